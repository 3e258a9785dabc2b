"""
Tests that archives of 2026-11-21 still work. fixtures/archives has those of two small trainings,
and the answers that they gave.
"""

import json
from pathlib import Path

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from tests.golden.numbers import assert_close

FOLDER = Path(__file__).parents[1] / "fixtures" / "archives"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["sst", "language_model"])
def test_an_archive_gives_the_answers_it_gave_before(name: str) -> None:
    predictor = Predictor.from_archive(load_archive(FOLDER / f"{name}.tar.gz"))

    for expected in ANSWERS[name]:
        answer = predictor.predict_json({"tokens": expected["tokens"]})
        assert_close(answer, expected, {"rel": 1e-4, "abs": 1e-5})

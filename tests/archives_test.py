"""
Tests that archives of 2026-11-21 still work. fixtures/archives has those of two small trainings,
and the answers that they gave.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

FOLDER = Path(__file__).parents[1] / "fixtures" / "archives"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))


def assert_close(answer: Any, expected: Any) -> None:
    """Compares answers; numbers may differ by 1e-5, or by a factor of 1e-4."""
    if isinstance(expected, dict):
        assert answer.keys() >= expected.keys()
        for key, value in expected.items():
            assert_close(answer[key], value)
    elif isinstance(expected, list):
        assert len(answer) == len(expected)
        for one, other in zip(answer, expected):
            assert_close(one, other)
    elif isinstance(expected, float):
        assert answer == pytest.approx(expected, rel=1e-4, abs=1e-5)
    else:
        assert answer == expected


@pytest.mark.parametrize("name", ["sst", "language_model"])
def test_an_archive_gives_the_answers_it_gave_before(name: str) -> None:
    predictor = Predictor.from_archive(load_archive(FOLDER / f"{name}.tar.gz"))

    for expected in ANSWERS[name]:
        answer = predictor.predict_json({"tokens": expected["tokens"]})
        assert_close(answer, expected)

"""
Tests that files from before the modules moved (2026-11-21) still work. fixtures/before_the_move has
the archives of two small trainings, a checkpoint with the fingerprint of its biLM, the store that a
training filled, and the answers that the archives gave.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.readers.sst import SstReader
from elmo_tasks.store import LayerStore
from elmo_tasks.store.contents import contents

FOLDER = Path(__file__).parents[1] / "fixtures" / "before_the_move"
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


def test_a_checkpoint_with_a_fingerprint_is_loaded_only_with_the_same_bilm() -> None:
    model = load_archive(FOLDER / "sst.tar.gz").model
    state = torch.load(FOLDER / "sst_checkpoint.th", weights_only=True)
    assert "text_embedder.bilm.fingerprint" in state

    model.load_state_dict(state)

    model.text_embedder.bilm.char_cnn.projection.weight.data += 1
    with pytest.raises(RuntimeError, match="this model's biLM has other weights"):
        model.load_state_dict(state)


def test_a_store_has_the_layers_of_the_sentences_of_its_training(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    shutil.copytree(FOLDER / "store", path)
    bilm = load_archive(FOLDER / "sst.tar.gz").model.text_embedder.bilm
    store, source = LayerStore(path), bilm.source()
    texts = [instance["tokens"].tokens for instance in SstReader().read("fixtures/sst.txt")]
    words = [[token.text for token in text] for text in texts]
    sentences = [batch_char_ids([text])[0].numpy().astype(numpy.int16) for text in words]

    (share,) = contents(path).shares

    assert share.num_sentences > 10
    assert not any(store.lacks(source, sentences))
    for text in words[:3]:
        stored = store.layers(source, batch_char_ids([text]), bilm._frozen_layers).float()
        torch.testing.assert_close(
            stored, bilm(batch_char_ids([text])).layers, atol=2e-3, rtol=2e-3
        )

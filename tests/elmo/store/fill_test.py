import os
import random
import signal
import sqlite3
from pathlib import Path

import numpy
import pytest
import torch
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.store import database
from elmo_tasks.elmo.store.fill import fill_store
from elmo_tasks.elmo.store.layer_store import LayerStore
from tests.helpers.stored_bilms import fixture_bilm, num_entries


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


@pytest.fixture(scope="module")
def texts() -> list[numpy.ndarray]:
    """Thirty texts of 1 to 9 tokens, as char ids of shape (length, 50)."""
    drawn = random.Random(0)
    sentences = [
        [f"{chr(97 + index)}{drawn.randrange(100)}" for _ in range(drawn.randrange(1, 10))]
        for index in range(30)
    ]
    return [batch_to_ids([words])[0].numpy().astype(numpy.int16) for words in sentences]


def test_only_what_is_missing_is_computed_and_equal_texts_once(
    path: str, texts: list[numpy.ndarray], capsys: pytest.CaptureFixture
) -> None:
    bilm = fixture_bilm(LayerStore(path, memory=0))
    # A text without tokens needs no layers.
    given = [texts[0], texts[0][:0], texts[1], texts[0]]

    computed = [fill_store(bilm, some) for some in (given, texts[:10], texts, texts)]

    assert computed == [2, 8, 20, 0]
    assert f"2 sentences, of which {path} lacks 2\n" in capsys.readouterr().out
    assert num_entries(path) == 30


def test_a_store_that_takes_no_more_ends_the_filling(
    path: str, texts: list[numpy.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = fixture_bilm(LayerStore(path, memory=0))
    fill_store(bilm, texts[:10])

    def full_disk(*args: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(database, "_checksum", full_disk)
        with pytest.raises(ConfigurationError, match="takes no more layers.* the same command"):
            fill_store(bilm, texts)

    assert num_entries(path) == 10


def test_two_processes_fill_a_store_with_the_layers_that_one_computes(
    path: str, texts: list[numpy.ndarray], capsys: pytest.CaptureFixture
) -> None:
    bilm = fixture_bilm(LayerStore(path, "float32", 0))

    first = fill_store(bilm, texts[:20], batch_tokens=20, num_processes=2)
    second = fill_store(bilm, texts, batch_tokens=20, num_processes=2)

    assert (first, second) == (20, 10)
    assert num_entries(path) == len(texts)
    assert f"{sum(map(len, texts[:20]))}/{sum(map(len, texts[:20]))}" in capsys.readouterr().err
    plain = fixture_bilm()
    for text in texts:
        ids = torch.from_numpy(text.astype(numpy.int64))[None]
        torch.testing.assert_close(bilm(ids).layers, plain(ids).layers, rtol=0, atol=1e-5)
    assert fill_store(bilm, texts, num_processes=2) == 0


@pytest.mark.fork
def test_a_batch_that_kills_its_process_ends_the_filling_and_the_rest_is_computed_again(
    path: str, texts: list[numpy.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = fixture_bilm(LayerStore(path, memory=0))
    parent, compute = os.getpid(), FrozenBiLm.computed_layers

    def kill_one(self: FrozenBiLm, char_ids: torch.Tensor) -> torch.Tensor:
        if os.getpid() != parent and char_ids.size(1) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return compute(self, char_ids)

    with monkeypatch.context() as patch:
        patch.setattr(FrozenBiLm, "computed_layers", kill_one)
        with pytest.raises(ConfigurationError, match="a process was killed"):
            fill_store(bilm, texts, batch_tokens=1, num_processes=2)
    num_kept = num_entries(path)

    num_computed = fill_store(bilm, texts, num_processes=2)

    assert 0 < num_kept < len(texts)
    assert num_computed == len(texts) - num_kept
    assert num_entries(path) == len(texts)

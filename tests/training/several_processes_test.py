import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.samplers import BucketBatchSampler
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model, load_archive
from torch.multiprocessing import ProcessExitedException

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.processes import broadcast_file
from elmo_tasks.training.several_processes import (
    ElmoDdpAccelerator,
    SharedDataLoader,
    SharedModel,
    prepare_processes,
)
from elmo_tasks.training.trainer import ElmoTrainer
from scripts.faults import difference, results
from tests.helpers.configs import tiny
from tests.helpers.language_model_configs import shrunk
from tests.helpers.workers import DISTRIBUTED, together, train

EXACT = "{ dropout: 0, dtype: 'float32' }"


def metrics(folder: Path) -> dict[str, float]:
    """Returns the metrics of each epoch of a training, without times and memory."""
    return {
        f"{path.stem} {name}": value
        for path in folder.glob("metrics_epoch_*.json")
        for name, value in json.loads(path.read_text()).items()
        if not name.endswith(("_duration", "_MB"))
    }


@pytest.mark.fork
@pytest.mark.parametrize(("name", "num_epochs", "num_steps"), [("mini", 1, 8), ("original", 1, 12)])
def test_two_processes_pre_train_as_one_does_with_their_batches_together(
    name: str, num_epochs: int, num_steps: int, tmp_path: Path
) -> None:
    epochs = f"{{ trainer+: {{ num_epochs: {num_epochs} }} }}"
    whole = "{ batch_tokens: 128, window: { rows: 20, length: 4 } }"
    half = "{ batch_tokens: 64, window: { rows: 10, length: 4 } }"

    train(shrunk(name, EXACT, epochs, whole), tmp_path / "one")
    train(shrunk(name, EXACT, epochs, half, DISTRIBUTED), tmp_path / "two")

    one, two = metrics(tmp_path / "one"), metrics(tmp_path / "two")
    assert two == pytest.approx(one, rel=1e-4)
    weights = [torch.load(tmp_path / run / "best.th") for run in ("one", "two")]
    assert weights[0]["num_batches"] == weights[1]["num_batches"] >= num_steps
    vocab = load_archive(tmp_path / "two" / "model.tar.gz").model.vocab
    assert vocab.num_sentences == 89


def without_dropout(config: Any) -> Any:
    if isinstance(config, dict):
        return {
            name: 0.0 if name.endswith("dropout") else without_dropout(value)
            for name, value in config.items()
        }
    return [without_dropout(value) for value in config] if isinstance(config, list) else config


@pytest.mark.fork
@pytest.mark.parametrize("name", ["ner", "squad"])
def test_two_processes_train_a_task_to_the_metrics_of_one(name: str, tmp_path: Path) -> None:
    """All examples are in one step, because the processes shuffle otherwise than one does."""
    all_at_once = """{
      batch_size:: 100,
      data_loader+: { batch_sampler+: { batch_size: 100, drop_last: false } },
    }"""

    for run, changes in (("one", []), ("two", [DISTRIBUTED])):
        train(without_dropout(tiny(name, "both", all_at_once, *changes)), tmp_path / run)

    one, two = metrics(tmp_path / "one"), metrics(tmp_path / "two")
    assert one["metrics_epoch_0 training_loss"] > 0 and any("f1" in name for name in one)
    assert two == pytest.approx(one, rel=1e-4)


@pytest.mark.fork
def test_a_training_whose_worker_was_killed_ends_as_one_that_was_not(tmp_path: Path) -> None:
    change = """{
      batch_tokens: 128,
      trainer+: { num_epochs: 2, checkpointer+: { save_every_num_batches: 2 } },
    }"""
    config = shrunk("small", change, DISTRIBUTED)
    steps = 0

    def kill_the_second(trainer: ElmoTrainer) -> None:
        nonlocal steps
        steps += 1
        if steps == 7 and torch.distributed.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    train(config, tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ProcessExitedException):
        patch.setattr(ElmoTrainer, "clip_gradient", kill_the_second)
        train(config, tmp_path / "killed")
    saved = {path.name for path in (tmp_path / "killed").glob("model_state_*")}
    train(config, tmp_path / "killed", recover=True)

    assert saved and not (tmp_path / "killed" / "metrics_epoch_2.json").exists()
    assert not difference(results(tmp_path / "whole"), results(tmp_path / "killed"))


def test_a_training_that_was_killed_before_its_vocabulary_was_complete_makes_it_again(
    tmp_path: Path,
) -> None:
    config = Params(shrunk("mini", DISTRIBUTED))
    words = tmp_path / "vocabulary" / "tokens.txt"
    words.parent.mkdir()
    words.write_text("half")

    prepare_processes(config, tmp_path, recover=True)
    made = words.read_bytes()
    prepare_processes(config, tmp_path, recover=True)

    assert made.startswith(b"@@UNKNOWN@@\n") and len(made.split()) > 20
    assert words.read_bytes() == made


def test_a_test_with_a_share_of_the_data_is_refused(tmp_path: Path) -> None:
    config = shrunk("mini", DISTRIBUTED, "{ evaluate_on_test: true }")

    with pytest.raises(ConfigurationError, match="evaluate_on_test needs a single process"):
        train(config, tmp_path / "run")


def test_nodes_without_the_same_port_are_refused(tmp_path: Path) -> None:
    config = shrunk("mini", "{ distributed: { cuda_devices: [-1], num_nodes: 2 } }")

    with pytest.raises(ConfigurationError, match="distributed needs primary_port"):
        prepare_processes(Params(config), tmp_path, recover=False)


class Words(DatasetReader):
    """Reads an instance for each of so many words."""

    def _read(self, num_words: Any) -> Iterator[Instance]:
        for index in range(int(num_words)):
            yield Instance({"words": TextField([Token(str(index))], {"w": SingleIdTokenIndexer()})})


@pytest.mark.parametrize("batches", [{"batch_size": 4}, {"batch_sampler": BucketBatchSampler(4)}])
def test_processes_with_unequal_shares_make_as_many_batches_and_lose_nothing(
    batches: dict[str, Any], tmp_path: Path
) -> None:
    """9 instances make batches of 4, 4 and 1 in process 0, where process 1 has 8."""

    def work(rank: int) -> None:
        loader = SharedDataLoader(Words(), "17", **batches)
        vocab = Vocabulary(tokens_to_add={"tokens": [str(index) for index in range(17)]})
        loader.index_with(vocab)
        loader.share()
        epochs = [[batch["words"]["w"]["tokens"].flatten() for batch in loader] for _ in range(2)]

        sizes = [sorted(map(len, epoch)) for epoch in epochs]
        assert sizes == 2 * [[1, 4, 4] if rank == 0 else [2, 2, 4]]
        assert len(loader) == 3
        for epoch in epochs:
            words = [int(vocab.get_token_from_index(int(index))) for index in torch.cat(epoch)]
            assert sorted(words) == list(range(rank, 17, 2))

    together(work, tmp_path)


def test_a_process_without_an_instance_for_each_batch_says_so(tmp_path: Path) -> None:
    def work(rank: int) -> None:
        loader = SharedDataLoader(Words(), "1", batch_size=4)
        loader.index_with(Vocabulary())
        loader.share()
        if rank == 0:
            assert len(list(loader)) == 1
            return
        with pytest.raises(ConfigurationError, match="1 has too few instances: .* has 1 batches"):
            list(loader)

    together(work, tmp_path)


class Weights(Model):
    def __init__(self, rank: int = 0, words: tuple[str, ...] = ("a", "b")) -> None:
        super().__init__(Vocabulary(tokens_to_add={"tokens": list(words)}))
        self.rows = torch.nn.Parameter(torch.full((5, 2), float(rank)))
        self.dense = torch.nn.Parameter(torch.full((3,), float(rank)))
        self.unused = torch.nn.Parameter(torch.full((2,), float(rank)))


def sparse(rows: list[int], value: float) -> torch.Tensor:
    return torch.sparse_coo_tensor([rows], torch.full((len(rows), 2), value), (5, 2))


def test_gradients_are_means_over_the_processes_and_only_used_rows_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, all_reduce = [], torch.distributed.all_reduce

    def count(tensor: torch.Tensor, *args: object, **kwargs: object) -> object:
        sent.append((tuple(tensor.shape), tensor.dtype))
        return all_reduce(tensor, *args, **kwargs)

    def work(rank: int) -> None:
        model = Weights()
        # Row 3 comes twice in process 0, and process 2 has no gradient of rows.
        grads = [sparse([3, 0, 3], 1.0), sparse([3, 2], 6.0), None]
        model.rows.grad = grads[rank]
        model.dense.grad = None if rank == 1 else torch.full((3,), 3.0 * (rank + 1))

        SharedModel(model).average_gradients()

        expected = torch.tensor([[1.0, 1], [0, 0], [6, 6], [8, 8], [0, 0]]) / 3
        torch.testing.assert_close(model.rows.grad.to_dense(), expected)
        assert model.rows.grad.is_sparse and model.rows.grad.is_coalesced()
        assert model.rows.grad.indices().tolist() == [[0, 2, 3]]
        torch.testing.assert_close(model.dense.grad, torch.full((3,), 4.0))
        assert model.unused.grad is None
        wide = sorted(shape for shape, dtype in sent if dtype == torch.float32)
        assert wide == [(3,), (3, 2)]

    monkeypatch.setattr(torch.distributed, "all_reduce", count)
    together(work, tmp_path, 3)


def test_every_process_starts_with_the_weights_of_the_first(tmp_path: Path) -> None:
    def work(rank: int) -> None:
        model, shared = ElmoDdpAccelerator(rank, 2).wrap_model(Weights(rank))

        assert model is shared.model
        assert not any(weight.any() for weight in model.parameters())

    together(work, tmp_path)


def test_processes_with_other_words_are_refused_and_named(tmp_path: Path) -> None:
    def work(rank: int) -> None:
        words = ("a", "c") if rank == 1 else ("a", "b")
        with pytest.raises(
            ConfigurationError, match="processes 1 have another vocabulary or other shapes"
        ):
            ElmoDdpAccelerator(rank, 3).wrap_model(Weights(0, words))

    together(work, tmp_path, 3)


def test_a_file_of_the_first_process_reaches_the_others(tmp_path: Path) -> None:
    content = bytes(range(256)) * 3 + b"end"
    (tmp_path / "file").write_bytes(content)

    def work(rank: int) -> None:
        file = broadcast_file(tmp_path / "file" if rank == 0 else None)

        assert file is not None and file.read() == content
        assert broadcast_file(None) is None

    together(work, tmp_path)

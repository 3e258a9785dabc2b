import json
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, DatasetReader, Instance, Token, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers import TextClassificationJsonReader
from allennlp.data.fields import TextField
from allennlp.data.samplers import BucketBatchSampler, MaxTokensBatchSampler
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.training import Checkpointer
from allennlp.training.learning_rate_schedulers import (
    LearningRateScheduler,
    ReduceOnPlateauLearningRateScheduler,
)
from torch.serialization import add_safe_globals, clear_safe_globals, get_safe_globals

from elmo_tasks.in_allennlp.compat import (
    CompatibleMultiProcessDataLoader,
    CompatibleReduceOnPlateau,
)
from tests.helpers.workers import together

# Runs AllenNLP's trainer for an epoch, without the repairs and then with them.
TRAIN = """
import sys
import torch
from allennlp.data import Instance, Vocabulary
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.data.fields import TensorField
from allennlp.models import Model
from allennlp.training import GradientDescentTrainer

class Line(Model):
    def __init__(self):
        super().__init__(Vocabulary())
        self.slope = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return {"loss": (self.slope * x).sum()}

def train():
    model = Line()
    loader = SimpleDataLoader([Instance({"x": TensorField(torch.ones(1))})], batch_size=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    GradientDescentTrainer(
        model, optimizer, loader, num_epochs=1, cuda_device=-1, enable_default_callbacks=False
    ).train()
    assert model.slope.item() < 1

train()
print("repaired", file=sys.stderr)
from elmo_tasks.in_allennlp.install import install
install()
train()
"""


@pytest.fixture
def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)


def test_reduce_on_plateau_of_allennlp_is_broken_and_ours_reduces(
    optimizer: torch.optim.Optimizer,
) -> None:
    with pytest.raises(TypeError, match="verbose"):
        ReduceOnPlateauLearningRateScheduler(optimizer)

    params = Params({"type": "reduce_on_plateau", "patience": 0, "factor": 0.5, "verbose": True})
    scheduler = LearningRateScheduler.from_params(params, optimizer=optimizer)
    rates = []
    for _ in range(2):
        scheduler.step(1.0)
        rates.append(optimizer.param_groups[0]["lr"])

    assert isinstance(scheduler, CompatibleReduceOnPlateau)
    assert rates == [1.0, 0.5]


def test_reduce_on_plateau_takes_every_argument_of_pytorch(
    optimizer: torch.optim.Optimizer,
) -> None:
    given: dict[str, Any] = {
        "mode": "max",
        "factor": 0.2,
        "patience": 5,
        "threshold_mode": "abs",
        "threshold": 5e-3,
        "cooldown": 2,
        "eps": 1e-10,
    }

    scheduler = CompatibleReduceOnPlateau(optimizer, min_lr=1e-12, **given)

    state = scheduler.state_dict()
    assert {name: state[name] for name in given} == given
    assert state["min_lrs"] == [1e-12]


@pytest.fixture
def without_safe_globals() -> Iterator[None]:
    """Lets `torch.load` allow only what it allows by itself."""
    allowed = get_safe_globals()
    clear_safe_globals()
    yield
    add_safe_globals(allowed)


def checkpoint(directory: Path, training_state: dict) -> Checkpointer:
    """Writes the files that a crashed training leaves behind."""
    torch.save({}, directory / "model_state_e0_b1.th")
    torch.save(training_state, directory / "training_state_e0_b1.th")
    return Checkpointer(directory)


def cosine_state(optimizer: torch.optim.Optimizer) -> dict:
    params = Params({"type": "cosine", "t_initial": 4})
    scheduler = LearningRateScheduler.from_params(params, optimizer=optimizer)
    scheduler.step()
    return {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}


def test_training_state_with_numpy_scalars_is_refused_without_the_repair(
    tmp_path: Path, optimizer: torch.optim.Optimizer, without_safe_globals: None
) -> None:
    with pytest.raises(pickle.UnpicklingError, match="scalar"):
        checkpoint(tmp_path, cosine_state(optimizer)).load_checkpoint()


def test_training_state_of_the_cosine_schedule_is_recovered(
    tmp_path: Path, optimizer: torch.optim.Optimizer
) -> None:
    state = cosine_state(optimizer)
    assert isinstance(optimizer.param_groups[0]["lr"], np.floating)

    recovered = checkpoint(tmp_path, state).load_checkpoint()

    assert recovered is not None
    assert recovered.trainer_state == state


@pytest.mark.parametrize("kind", [np.bool_, np.int32, np.int64, np.float32, np.float64])
def test_every_kind_of_numpy_scalar_is_recovered(tmp_path: Path, kind: type[np.generic]) -> None:
    recovered = checkpoint(tmp_path, {"metric": kind(1)}).load_checkpoint()

    assert recovered is not None
    metric = recovered.trainer_state["metric"]
    assert type(metric) is kind and metric == 1


def test_training_state_with_anything_else_is_still_refused(tmp_path: Path) -> None:
    torch.save({"metric": Path("x")}, tmp_path / "state.th")

    with pytest.raises(pickle.UnpicklingError, match="weights_only"):
        torch.load(tmp_path / "state.th")


def spawning(loader_class: type[MultiProcessDataLoader], path: Path, **kwargs) -> DataLoader:
    path.write_text(json.dumps({"text": "so it goes", "label": 1}) + "\n", encoding="utf-8")
    reader = TextClassificationJsonReader(tokenizer=WhitespaceTokenizer(), skip_label_indexing=True)
    loader = loader_class(reader, path, batch_size=1, num_workers=1, start_method="spawn", **kwargs)
    loader.index_with(Vocabulary())
    return loader


# With `max_instances_in_memory` workers make whole batches, otherwise instances.
WORKERS = pytest.mark.parametrize("kwargs", [{}, {"max_instances_in_memory": 1}])


@pytest.mark.skipif(
    multiprocessing.get_start_method() != "fork", reason="the default start method is safe"
)
@WORKERS
def test_spawned_workers_of_allennlp_are_refused_their_lock(tmp_path: Path, kwargs: dict) -> None:
    with pytest.raises(RuntimeError, match="fork context .* spawn context"):
        list(spawning(MultiProcessDataLoader, tmp_path / "text.jsonl", **kwargs))


@WORKERS
def test_spawned_workers_of_ours_read(tmp_path: Path, kwargs: dict) -> None:
    lock = torch.multiprocessing.RLock
    loader = spawning(CompatibleMultiProcessDataLoader, tmp_path / "text.jsonl", **kwargs)

    batches = list(loader)

    assert [len(batch["label"]) for batch in batches] == [1]
    assert torch.multiprocessing.RLock == lock


def test_multiprocess_is_the_name_of_our_loader() -> None:
    assert DataLoader.by_name("multiprocess") is CompatibleMultiProcessDataLoader


def test_training_warns_of_torch_cuda_amp_without_the_repair_only() -> None:
    command = [sys.executable, "-W", "always::FutureWarning", "-c", TRAIN]
    run = subprocess.run(command, capture_output=True, text=True)

    assert run.returncode == 0, run.stderr
    without, _, repaired = run.stderr.partition("repaired\n")
    assert "FutureWarning" in without and "FutureWarning" not in repaired


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
        loader = CompatibleMultiProcessDataLoader(Words(), "17", **batches)
        vocab = Vocabulary(tokens_to_add={"tokens": [str(index) for index in range(17)]})
        loader.index_with(vocab)
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
        loader = CompatibleMultiProcessDataLoader(Words(), "1", batch_size=4)
        loader.index_with(Vocabulary())
        if rank == 0:
            assert len(list(loader)) == 1
            return
        with pytest.raises(ConfigurationError, match="1 has too few instances: .* has 1 batches"):
            list(loader)

    together(work, tmp_path)


def test_instances_that_are_all_longer_than_max_tokens_are_batches_of_their_own() -> None:
    texts = [[Token(word) for word in text.split()] for text in ("a b c", "a b")]
    instances = [
        Instance({"tokens": TextField(each, {"x": SingleIdTokenIndexer()})}) for each in texts
    ]
    for instance in instances:
        instance.index_fields(Vocabulary())

    batches = MaxTokensBatchSampler(max_tokens=1).get_batch_indices(instances)

    assert sorted(batches) == [[0], [1]]

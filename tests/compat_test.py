import json
import multiprocessing
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from allennlp.common import Params
from allennlp.data import DataLoader, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers import TextClassificationJsonReader
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.training import Checkpointer
from allennlp.training.learning_rate_schedulers import (
    LearningRateScheduler,
    ReduceOnPlateauLearningRateScheduler,
)
from torch.serialization import add_safe_globals, clear_safe_globals, get_safe_globals

from elmo_tasks.compat import (
    CompatibleMultiProcessDataLoader,
    CompatibleReduceOnPlateau,
)
from tests.helpers.processes import spawned_as_forks


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


def test_only_with_the_repair_the_training_state_of_the_cosine_schedule_is_recovered(
    tmp_path: Path, optimizer: torch.optim.Optimizer
) -> None:
    state = cosine_state(optimizer)
    assert isinstance(optimizer.param_groups[0]["lr"], np.floating)
    checkpointer = checkpoint(tmp_path, state)

    # `torch.load` allows no more than by itself.
    allowed = get_safe_globals()
    clear_safe_globals()
    try:
        with pytest.raises(pickle.UnpicklingError, match="scalar"):
            checkpointer.load_checkpoint()
    finally:
        add_safe_globals(allowed)
    recovered = checkpointer.load_checkpoint()

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
@pytest.mark.parametrize("kwargs", [{}, {"max_instances_in_memory": 1}])
def test_spawned_workers_of_allennlp_are_refused_their_lock_and_those_of_ours_read(
    tmp_path: Path, kwargs: dict
) -> None:
    if multiprocessing.get_start_method() == "fork":
        with pytest.raises(RuntimeError, match="fork context .* spawn context"):
            list(spawning(MultiProcessDataLoader, tmp_path / "text.jsonl", **kwargs))
    lock = torch.multiprocessing.RLock

    with spawned_as_forks():
        loader = spawning(CompatibleMultiProcessDataLoader, tmp_path / "text.jsonl", **kwargs)
        batches = list(loader)

    assert [len(batch["label"]) for batch in batches] == [1]
    assert torch.multiprocessing.RLock == lock


def test_multiprocess_is_the_name_of_our_loader() -> None:
    assert DataLoader.by_name("multiprocess") is CompatibleMultiProcessDataLoader

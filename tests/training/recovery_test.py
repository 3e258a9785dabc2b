import io
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.models import Model
from allennlp.training.metrics import (
    BLEU,
    Average,
    CategoricalAccuracy,
    PearsonCorrelation,
    SpanBasedF1Measure,
)

from elmo_tasks.models.metrics.coref import CorefMetric
from elmo_tasks.models.metrics.spans import SpanF1, SrlMetric
from elmo_tasks.models.metrics.squad import SquadMetric
from elmo_tasks.training.recovery import (
    get_metric_states,
    get_random_state,
    set_metric_states,
    set_random_state,
)
from elmo_tasks.training.trainer import ElmoTrainer
from scripts.faults import TRAININGS, difference, results, training_config
from tests.helpers.configs import tiny
from tests.helpers.language_model_configs import OFTEN_SAVED, shrunk
from tests.helpers.training import train
from tests.training.regularizer_test import OwnModel

# `make check` kills the training of NER (scripts/faults.py).
SST, SNLI, SQUAD, _, LANGUAGE_MODEL = TRAININGS


class Killed(BaseException):
    pass


def kill_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends the next training in its step after so many, without what AllenNLP does at an end."""
    done: list[None] = []

    def count(trainer: ElmoTrainer) -> None:
        done.append(None)
        if len(done) > steps:
            raise Killed

    monkeypatch.setattr(ElmoTrainer, "clip_gradient", count)
    monkeypatch.setattr(ElmoTrainer, "_finalize_best_model_state", lambda trainer: None)


PARTS = "{ data_loader+: { batch_sampler+: { batch_size: 3 }, batches_per_epoch: 3 } }"
ACROSS = PARTS.replace("epoch: 3", "epoch: 5")
EACH_BATCH = "{ trainer+: { checkpointer: { type: 'elmo', save_every_num_batches: 1 } } }"
ACCUMULATE = "{ trainer+: { num_gradient_accumulation_steps: 2 } }"
FEW = "{ max_sentences: 50 }"
WINDOWS = "{ window: { rows: 8, length: 8 } }"


def of_faults(name: str, folder: Path, num_epochs: int, max_instances: int) -> dict[str, Any]:
    """Returns a training of scripts/faults.py, of fewer instances."""
    config = training_config(name, folder, num_epochs)
    for reader in config.keys() & {"dataset_reader", "validation_dataset_reader"}:
        config[reader]["max_instances"] = max_instances
    return config


def epochs(number: int) -> str:
    return f"{{ trainer+: {{ num_epochs: {number} }} }}"


# What makes the config of a training in a folder, and the steps after which it is killed.
KILLED: dict[str, tuple[Callable[[Path], dict[str, Any]], int]] = {
    **{
        name: (partial(of_faults, name, num_epochs=num_epochs, max_instances=instances), steps)
        for name, num_epochs, instances, steps in (
            *((SST, 2, 10, 7), (SNLI, 2, 5, 7), (SQUAD, 1, 12, 3)),
        )
    },
    LANGUAGE_MODEL: (partial(training_config, LANGUAGE_MODEL, num_epochs=2), 5),
    # Each epoch has five documents, a batch each.
    "coreference": (lambda _: tiny("coref", "baseline", EACH_BATCH), 8),
    # The validation, too, reads a part of its data.
    "a part of the data in each epoch": (lambda _: sst(PARTS), 5),
    # The third epoch begins in the first pass over the 11 batches, and ends in the second.
    "an epoch over the end of the data": (lambda _: sst(ACROSS), 12),
    "no checkpoint yet": (lambda _: shrunk("small", OFTEN_SAVED, epochs(1)), 2),
    "accumulated gradients": (
        lambda _: shrunk("small", OFTEN_SAVED, FEW, ACCUMULATE, epochs(2)),
        4,
    ),
    # The state that the biLM carries from batch to batch is in the checkpoint.
    "a carried state": (lambda _: shrunk("original", OFTEN_SAVED, FEW, WINDOWS, epochs(2)), 9),
}


@pytest.mark.parametrize("name", KILLED)
def test_each_training_ends_with_the_weights_and_metrics_of_one_that_was_not_killed(
    name: str, tmp_path: Path
) -> None:
    config_of, steps = KILLED[name]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    train(config_of(whole), whole)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        kill_after(steps, patch)
        train(config_of(killed), killed)

    train(config_of(killed), killed, recover=True)

    expected = results(whole)
    assert len(expected) > 20 and any(torch.is_tensor(value) for value in expected.values())
    assert not difference(expected, results(killed))


def sst(change: str) -> dict[str, Any]:
    """Returns a training of several batches an epoch and a checkpoint after each."""
    often = """{
      data_loader+: { batch_sampler+: { batch_size: 24 } },
      trainer+: { num_epochs: 3, checkpointer: { type: 'elmo', save_every_num_batches: 1 } },
    }"""
    return tiny("sst", "input", often, change)


# This metric rises from epoch to epoch, so the first epoch is the best.
FIRST_IS_BEST = "{ trainer+: { validation_metric: '-elmo_input_gamma' } }"
NO_PATIENCE = f"{FIRST_IS_BEST} + {{ trainer+: {{ patience: 1, num_epochs: 5 }} }}"
AVERAGE = "{ trainer+: { moving_average: { type: 'elmo_exponential', decay: 0.8 } } }"
OURS, THEIRS = (
    "elmo_tasks.training.trainer.ElmoTrainer",
    "allennlp.training.gradient_descent_trainer",
)


@pytest.mark.parametrize(
    ("killed_in", "change", "last_epoch"),
    [
        # After the last batch of an epoch, whose metrics the checkpoint keeps.
        (f"{OURS}._validation_loss", "{}", 2),
        # After the last epoch: the training does not train on.
        (f"{OURS}._load_model_state", NO_PATIENCE, 1),
        # After the checkpoint of the best epoch, before its weights or averages were kept.
        (f"{THEIRS}.hardlink_or_copy", FIRST_IS_BEST, 2),
        (f"{OURS}._save_model_state", f"{FIRST_IS_BEST} + {AVERAGE}", 2),
        # Before the weights of the biLM were put back into the best ones.
        (f"{OURS}._finalize_best_model_state", "{}", 2),
    ],
)
def test_a_training_that_was_killed_between_its_parts_ends_as_one_that_was_not(
    killed_in: str, change: str, last_epoch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = sst(change)

    def killed(*args: Any) -> None:
        raise Killed

    train(config, tmp_path / "whole")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(killed_in, killed)
        train(config, tmp_path / "killed")
    train(config, tmp_path / "killed", recover=True)

    metrics = json.loads((tmp_path / "whole" / "metrics.json").read_text())
    assert metrics["epoch"] == last_epoch
    assert metrics["best_epoch"] == 0 or FIRST_IS_BEST not in change
    assert not difference(results(tmp_path / "whole"), results(tmp_path / "killed"))


def test_a_checkpoint_of_another_number_of_processes_is_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = sst("{}")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        kill_after(3, patch)
        train(config, tmp_path / "run")
    for path in (tmp_path / "run").glob("training_state_*.th"):
        state = torch.load(path)
        state["callbacks"][-1]["elmo_recovery"] *= 2
        torch.save(state, path)

    train(config, tmp_path / "run", recover=True)

    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["epoch"] == 2


@pytest.mark.parametrize("num_workers", [1, 2])
def test_several_workers_are_warned_of(
    num_workers: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    loader: Any = SimpleDataLoader([], 1)
    loader.num_workers = num_workers

    ElmoTrainer.from_partial_objects(OwnModel(), str(tmp_path), data_loader=loader, cuda_device=-1)

    assert caplog.text.count("two training runs of one seed differ") == num_workers - 1


def draws() -> list[float]:
    return [
        random.random(),
        random.gauss(0, 1),
        numpy.random.random(),
        numpy.random.standard_normal(),
        torch.rand(()).item(),
    ]


def test_a_state_that_was_saved_without_pickled_code_gives_the_same_draws() -> None:
    draws()
    file = io.BytesIO()
    torch.save(get_random_state(), file)
    expected = draws()
    draws()
    file.seek(0)

    set_random_state(torch.load(file, weights_only=True))

    assert draws() == expected


def test_states_of_gpus_are_set_where_there_are_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[str]] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", found.append)
    state = get_random_state()

    for states in (["first", "second"], ["first"]):
        set_random_state({**state, "cuda": states})

    assert found == [["first", "second"]]


# Metrics of an unfinished epoch.

VOCAB = Vocabulary(tokens_to_add={"labels": ["O", "B-PER", "I-PER"]})


class Measured(Model):
    """Has metrics as attributes, in a list and in a dictionary."""

    def __init__(self) -> None:
        super().__init__(VOCAB)
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.accuracy = CategoricalAccuracy()
        self.others: list[Any] = [
            SquadMetric(),
            SpanBasedF1Measure(VOCAB, "labels"),
            SpanF1(VOCAB, "labels"),
            CorefMetric(),
            SrlMetric(),
            PearsonCorrelation(),
        ]
        self.by_name: dict[str, Any] = {"mean": Average(), "bleu": BLEU()}

    def measure(self, first: int) -> None:
        labels = (torch.arange(first, first + 6) % 3).view(1, 6)
        scores = torch.nn.functional.one_hot((labels + first) % 3, 3).float()
        mask = torch.ones(1, 6, dtype=torch.bool)
        self.accuracy(scores, labels)
        self.others[0](["to be"], [["to be or not"]])
        self.others[1](scores, labels, mask)
        self.others[2](scores, labels, mask)
        self.others[3]([["ab"]], [["abc", "de"][first:]])
        self.others[4]([[("A0", first, 4), ("A1", 5, 6)]], [[("A0", 1, 4), ("A1", 5, 6)]])
        self.others[5](scores[0, :, 0], torch.arange(6.0) ** first)
        self.by_name["mean"](first + 0.1)
        self.by_name["bleu"](labels, (labels + first) % 3)

    def values(self) -> list[Any]:
        metrics = [self.accuracy, *self.others, *self.by_name.values()]
        return [metric.get_metric(reset=True) for metric in metrics]


def test_metrics_that_go_on_from_a_saved_state_end_with_the_same_values() -> None:
    whole, one, other = Measured(), Measured(), Measured()
    for model, batches in ((whole, (0, 1, 3)), (one, (0, 1))):
        for first in batches:
            model.measure(first)
    file = io.BytesIO()
    torch.save(get_metric_states(one), file)
    file.seek(0)

    set_metric_states(other, torch.load(file, weights_only=True))
    other.measure(3)

    assert other.values() == whole.values()

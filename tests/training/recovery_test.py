import io
import json
import random
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from elmo_tasks.training.recovery import ResumedLoader, get_random_state, set_random_state
from elmo_tasks.training.trainer import ElmoTrainer
from scripts.faults import TRAININGS, difference, results, training_config
from tests.helpers.configs import tiny
from tests.helpers.training import train

SST, SNLI, SQUAD, NER, LANGUAGE_MODEL = TRAININGS


class Killed(Exception):
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


def assert_ends_alike(
    configs: tuple[dict[str, Any], dict[str, Any]], folder: Path, steps: int
) -> None:
    """Asserts that a training that is killed after some steps ends as one that is not."""
    train(configs[0], folder / "whole")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        kill_after(steps, patch)
        train(configs[1], folder / "killed")

    train(configs[1], folder / "killed", recover=True)

    whole, killed = results(folder / "whole"), results(folder / "killed")
    assert len(whole) > 20 and any(torch.is_tensor(value) for value in whole.values())
    assert not difference(whole, killed)


@pytest.mark.parametrize(
    ("name", "steps"), [(SST, 7), (SNLI, 7), (SQUAD, 3), (NER, 5), (LANGUAGE_MODEL, 5)]
)
def test_each_training_ends_with_the_weights_and_metrics_of_one_that_was_not_killed(
    name: str, steps: int, tmp_path: Path
) -> None:
    configs = tuple(
        training_config(name, tmp_path / run, num_epochs=2) for run in ("whole", "killed")
    )

    assert_ends_alike((configs[0], configs[1]), tmp_path, steps)


def test_a_training_of_coreference_ends_with_the_metrics_of_one_that_was_not_killed(
    tmp_path: Path,
) -> None:
    often = "{ trainer+: { checkpointer: { type: 'elmo', save_every_num_batches: 1 } } }"
    config = tiny("coref", "baseline", often)

    # Each epoch has five documents, a batch each.
    assert_ends_alike((config, config), tmp_path, steps=8)


def sst(change: str) -> dict[str, Any]:
    """Returns a training of several batches an epoch and a checkpoint after each."""
    often = """{
      data_loader+: { batch_sampler+: { batch_size: 24 } },
      trainer+: { num_epochs: 3, checkpointer: { type: 'elmo', save_every_num_batches: 1 } },
    }"""
    return tiny("sst", "input", often, change)


# This metric rises from epoch to epoch, so the first epoch is the best and patience ends.
NO_PATIENCE = "{ trainer+: { validation_metric: '-elmo_input_gamma', patience: 1, num_epochs: 5 } }"


@pytest.mark.parametrize(
    ("killed_in", "change", "last_epoch"),
    [
        # After the last batch of an epoch, whose metrics the checkpoint keeps.
        ("_validation_loss", "{}", 2),
        # After the last epoch: the training does not train on.
        ("_load_model_state", NO_PATIENCE, 1),
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
        patch.setattr(ElmoTrainer, killed_in, killed)
        train(config, tmp_path / "killed")
    train(config, tmp_path / "killed", recover=True)

    assert json.loads((tmp_path / "whole" / "metrics.json").read_text())["epoch"] == last_epoch
    assert not difference(results(tmp_path / "whole"), results(tmp_path / "killed"))


def test_a_checkpoint_without_a_random_state_is_recovered_and_says_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = sst("{}")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        kill_after(3, patch)
        train(config, tmp_path / "run")
    for path in (tmp_path / "run").glob("training_state_*.th"):
        state = torch.load(path)
        assert "elmo_recovery" in state["callbacks"].pop()
        torch.save(state, path)

    train(config, tmp_path / "run", recover=True)

    log = (tmp_path / "run" / "out.log").read_text(encoding="utf-8")
    assert "dropout differs from that of an uninterrupted training" in log
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["epoch"] == 2


def test_a_resumed_loader_restores_between_the_finished_batch_and_the_next() -> None:
    seen: list[Any] = []

    def loader() -> Any:
        for batch in range(4):
            seen.append(f"read {batch}")
            yield batch

    resumed = ResumedLoader(loader(), 2, lambda: seen.append("restored"))

    assert list(resumed) == [0, 1, 2, 3]
    assert seen == ["read 0", "read 1", "restored", "read 2", "read 3"]


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

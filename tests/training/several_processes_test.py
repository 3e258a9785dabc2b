import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.models import load_archive
from torch.multiprocessing import ProcessExitedException

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.training.several_processes import prepare_processes
from elmo_tasks.training.trainer import ElmoTrainer
from scripts.faults import difference, results
from tests.helpers.configs import tiny
from tests.helpers.language_model_configs import shrunk
from tests.helpers.workers import DISTRIBUTED, train

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
@pytest.mark.parametrize(
    ("name", "num_epochs", "num_steps"), [("mini", 2, 33), ("original", 1, 25)]
)
def test_two_processes_pre_train_as_one_does_with_their_batches_together(
    name: str, num_epochs: int, num_steps: int, tmp_path: Path
) -> None:
    epochs = f"{{ trainer+: {{ num_epochs: {num_epochs} }} }}"
    whole = "{ batch_tokens: 64, window: { rows: 10, length: 4 } }"
    half = "{ batch_tokens: 32, window: { rows: 5, length: 4 } }"

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
      batch_tokens: 64,
      trainer+: { num_epochs: 2, checkpointer+: { save_every_num_batches: 3 } },
    }"""
    config = shrunk("small", change, DISTRIBUTED)
    steps = 0

    def kill_the_second(trainer: ElmoTrainer) -> None:
        nonlocal steps
        steps += 1
        if steps == 14 and torch.distributed.get_rank() == 1:
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

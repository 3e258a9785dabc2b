import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.models import load_archive
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.language_model import callback as pretraining
from elmo_tasks.language_model.callback import PretrainingCallback
from tests.helpers.configs import evaluate
from tests.helpers.language_model_configs import CORPUS, shrunk
from tests.helpers.reference_bilm import assert_equals_upstream
from tests.helpers.stop_callback import STOP_AT, Stopped
from tests.helpers.training import train
from tests.helpers.workers import DISTRIBUTED

CHANGE = """{
  num_samples: null, dropout: 0,
  optimizer: { type: 'adam', lr: 0.01 },
  trainer+: {
    num_epochs: 3,
    callbacks+: ['stop'],
    checkpointer: { type: 'elmo', keep_most_recent_by_count: null },
  },
}"""
# With this metric the epoch of the greatest perplexity, which is the first, is the best.
FIRST_IS_BEST = "{ trainer+: { validation_metric: '+perplexity' } }"
PAIR = ["options.json", "weights.hdf5"]


def exported(folder: Path) -> BiLm:
    return make_bilm(folder / "options.json", folder / "weights.hdf5")


def assert_holds(folder: Path, weights: Path) -> None:
    """Asserts that `folder` has the biLM of `weights`, and that AllenNLP's biLM can read it."""
    state = torch.load(weights)
    bilm = exported(folder)
    for name, tensor in bilm.state_dict().items():
        torch.testing.assert_close(tensor, state[f"bilm.{name}"])
    upstream = _ElmoBiLm(*(folder / name for name in PAIR))
    texts = [line.split() for line in CORPUS.read_text(encoding="utf-8").splitlines()[:5]]
    assert_equals_upstream(bilm, upstream, batch_to_ids(texts))


def test_the_pair_lies_there_after_every_epoch_and_in_the_end_it_is_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, on_epoch = tmp_path / "run", PretrainingCallback.on_epoch

    def copy_after(callback: PretrainingCallback, trainer: Any, **kwargs: Any) -> None:
        on_epoch(callback, trainer, **kwargs)
        epoch = kwargs["epoch"]
        (tmp_path / str(epoch)).mkdir()
        for name in PAIR:
            shutil.copy(folder / name, tmp_path / str(epoch))

    monkeypatch.setattr(PretrainingCallback, "on_epoch", copy_after)
    train(shrunk("small", CHANGE, FIRST_IS_BEST), folder)

    for epoch in range(3):
        assert_holds(tmp_path / str(epoch), folder / f"model_state_e{epoch + 1}_b0.th")
    assert json.loads((folder / "metrics.json").read_text())["best_epoch"] == 0
    assert_holds(folder, folder / "model_state_e1_b0.th")
    assert json.loads((folder / "options.json").read_text())["state"] == "reset"


def test_a_training_that_fails_leaves_the_pair_of_its_last_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STOP_AT, "1:3")
    with pytest.raises(Stopped):
        train(shrunk("small", CHANGE), tmp_path / "run")

    assert_holds(tmp_path / "run", tmp_path / "run" / "model_state_e1_b0.th")


class Loader:
    def __init__(self, num_batches: int | None) -> None:
        self.num_batches = num_batches

    def __len__(self) -> int:
        if self.num_batches is None:
            raise TypeError
        return self.num_batches


def progress(
    monkeypatch: pytest.MonkeyPatch, length: int | None, steps: int, accumulate: int = 1
) -> dict[str, float]:
    """Returns what is shown after `steps` batches of 100 tokens, each of which took two seconds."""
    seconds = iter(range(1000, 2000, 2))
    monkeypatch.setattr(pretraining, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    callback = PretrainingCallback("folder")
    trainer: Any = SimpleNamespace(
        model=SimpleNamespace(num_softmax_batches=0),
        data_loader=Loader(length),
        _num_epochs=3,
        _num_gradient_accumulation_steps=accumulate,
        _start_after_epochs_completed=0,
        _start_after_batches_in_epoch_completed=0,
        _total_batches_completed=0,
    )
    callback.on_start(trainer)
    metrics: dict[str, float] = {}
    outputs = accumulate * [{"num_tokens": torch.tensor(100 // accumulate)}]
    for step in range(steps):
        trainer._total_batches_completed = step + 1
        callback.on_batch(trainer, [], outputs, metrics, 0, step + 1, is_training=True)
    callback.on_batch(trainer, [], outputs, {}, 0, 1, is_training=False)
    return metrics


def test_progress_says_tokens_per_second_and_the_hours_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Three epochs have 300 batches, of which 290 are left.
    expected = {"tokens_per_second": 50, "hours_left": 290 * 2 / 3600}

    assert progress(monkeypatch, 100, 10) == pytest.approx(expected)
    assert progress(monkeypatch, 200, 10, accumulate=2) == pytest.approx(expected)
    # There were more batches than expected.
    assert progress(monkeypatch, 1, 10)["hours_left"] == 0
    # The length of the text is not known.
    assert progress(monkeypatch, None, 10) == pytest.approx({"tokens_per_second": 50})


def test_a_training_that_ends_before_the_bilm_trains_is_refused(tmp_path: Path) -> None:
    # An epoch has 10 batches.
    with pytest.raises(ValueError, match="not train at all: .*with num_epochs: 51, the biLM"):
        train(shrunk("continue", "{ num_softmax_batches: 500 }"), tmp_path / "500")

    train(shrunk("continue", "{ num_softmax_batches: 5 }"), tmp_path / "5")


def test_a_biLM_is_continued_on_the_text_of_a_task_and_a_config_imports_it(tmp_path: Path) -> None:
    config, folder = (
        shrunk("continue", "{ task: 'snli', num_softmax_batches: 1 }"),
        tmp_path / "run",
    )

    train(config, folder)
    imported = evaluate(f"import '{folder}/bilm.libsonnet'")

    metrics = json.loads((folder / "metrics.json").read_text())
    assert config["train_data_path"] == "fixtures/snli.jsonl"
    assert metrics["best_validation_perplexity"] > 1
    assert_holds(folder, folder / "best.th")
    assert imported == {
        "options": json.loads((folder / "options.json").read_text()),
        "pretrained_file": str(folder / "weights.hdf5"),
    }


def test_two_processes_train_one_bilm_whose_rate_needs_the_length_of_an_epoch(
    tmp_path: Path,
) -> None:
    # Both processes are spawned, as they are for a user.
    train(shrunk("mini", "{ max_sentences: 60 }", DISTRIBUTED), tmp_path / "run")

    assert_holds(tmp_path / "run", tmp_path / "run" / "best.th")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["validation_perplexity"] > 1
    vocab = load_archive(tmp_path / "run" / "model.tar.gz").model.vocab
    assert vocab.num_sentences == 60

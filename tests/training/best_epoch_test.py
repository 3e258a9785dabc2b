import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.training.metric_tracker import MetricTracker

from elmo_tasks.models.bcn import Bcn
from elmo_tasks.training.best_epoch import LossBreaksTies, OneClassWarning
from elmo_tasks.training.trainer import ElmoTrainer
from tests.helpers.configs import tiny
from tests.helpers.training import train

# Score and loss of each epoch.
EPOCHS = [(0.5, 3.0), (0.5, 0.5), (0.25, 0.1), (0.5, 0.5), (0.5, 0.125), (0.75, 9.0), (0.75, 9.5)]


def best_epochs(tracker: MetricTracker) -> list[tuple[int | None, bool]]:
    found = []
    for score, loss in EPOCHS:
        metrics = {"accuracy": score, "loss": loss}
        tracker.add_metrics(metrics)
        if tracker.is_best_so_far():
            tracker.best_epoch_metrics = metrics
        found.append((tracker.best_epoch, tracker.should_stop_early()))
    return found


def test_of_equal_scores_the_epoch_with_the_lower_loss_is_the_best() -> None:
    best = best_epochs(LossBreaksTies("+accuracy"))

    assert [epoch for epoch, _ in best] == [0, 1, 1, 1, 4, 5, 5]


def test_patience_counts_as_with_allennlps_tracker() -> None:
    ours, theirs = (best_epochs(kind("+accuracy", 2)) for kind in (LossBreaksTies, MetricTracker))

    assert [stops for _, stops in ours] == [stops for _, stops in theirs]
    assert any(stops for _, stops in ours)


def test_the_order_does_not_matter_and_a_restored_tracker_goes_on() -> None:
    tracker, restored = LossBreaksTies("+accuracy"), LossBreaksTies("+accuracy")
    tracker.add_metrics({"accuracy": 0.5, "loss": 1.0})
    tracker.best_epoch_metrics = {"accuracy": 0.5, "loss": 1.0}

    restored.load_state_dict(json.loads(json.dumps(tracker.state_dict())))
    restored.add_metrics({"accuracy": 0.5, "loss": 0.5})

    assert restored.best_epoch == 1 and restored.is_best_so_far()
    # Without a loss, the first one stays.
    restored.add_metrics({"accuracy": 0.5})
    assert restored.best_epoch == 1


EQUAL = """{
  trainer+: { num_epochs: 3, validation_metric: '+equal',
    optimizer: { type: 'adam', lr: 1e-4 } },
  elmo_dropout: 0,
  model+: { dropout: 0, feedforward+: { dropout: 0 }, classifier+: { dropout: 0 } },
}"""


@pytest.fixture
def equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives every model a metric that has the same value in each epoch."""
    metrics: Any = Bcn.get_metrics
    monkeypatch.setattr(
        Bcn, "get_metrics", lambda model, reset=False: {**metrics(model, reset), "equal": 1.0}
    )


def losses(folder: Path) -> list[float]:
    files = sorted(folder.glob("metrics_epoch_*.json"))
    return [json.loads(file.read_text())["validation_loss"] for file in files]


def test_a_training_and_a_recovered_one_keep_the_lowest_loss_of_equal_scores(
    equal: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny("sst", "input", EQUAL)
    train(config, tmp_path / "whole")
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
        patch.setattr(ElmoTrainer, "_finalize_best_model_state", lambda self: None)

        def killed(callback: OneClassWarning, trainer: Any, *args: Any, **options: Any) -> None:
            if options["epoch"] == 2:
                raise RuntimeError("killed")

        patch.setattr(OneClassWarning, "on_epoch", killed)
        train(config, tmp_path / "run")

    train(config, tmp_path / "run", recover=True)

    whole, recovered = (
        json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("whole", "run")
    )
    lowest = min(losses(tmp_path / "whole"))
    assert lowest < losses(tmp_path / "whole")[0]
    assert whole["best_validation_loss"] == lowest == recovered["best_validation_loss"]
    assert whole["best_epoch"] == recovered["best_epoch"] > 0
    best = [torch.load(tmp_path / name / "best.th") for name in ("whole", "run")]
    torch.testing.assert_close(dict(best[0]), dict(best[1]), rtol=0, atol=0)


def warning_after(rows: list[list[list[float]]], best: list[bool], model: Any) -> OneClassWarning:
    callback = OneClassWarning("folder")
    for logits, is_best in zip(rows, best):
        tracker = SimpleNamespace(is_best_so_far=lambda is_best=is_best: is_best)
        trainer = SimpleNamespace(model=model, _metric_tracker=tracker)
        callback.on_batch(trainer, [], [], {}, 0, 1, is_training=True)
        for row in logits:
            outputs = [{"logits": torch.tensor([row])}]
            callback.on_batch(trainer, [], outputs, {}, 0, 1, is_training=False)
        callback.on_epoch(trainer, {}, 0)
    return callback


ONE, TWO = [[0.0, 1.0], [0.5, 2.0]], [[0.0, 1.0], [3.0, 2.0]]


@pytest.mark.parametrize(
    ("rows", "best", "is_said"),
    [
        ([TWO, ONE], [True, True], True),
        ([TWO, ONE], [True, False], False),
        ([ONE, TWO], [True, False], True),
        ([ONE, TWO], [True, True], False),
    ],
)
def test_a_best_epoch_that_always_predicts_one_class_is_said_also_after_a_recovery(
    rows: list[Any], best: list[bool], is_said: bool, caplog: pytest.LogCaptureFixture
) -> None:
    vocab = SimpleNamespace(get_token_from_index=lambda index, namespace: f"{namespace} {index}")
    model = SimpleNamespace(namespace="labels", accuracy=None, vocab=vocab)
    state = warning_after(rows, best, model).state_dict()

    with caplog.at_level(logging.WARNING):
        recovered = OneClassWarning("folder")
        recovered.load_state_dict(state)
        recovered.on_end(SimpleNamespace(model=model))

    said = [line for line in caplog.messages if "always predicts one class, 'labels 1'" in line]
    assert bool(said) == is_said


def test_a_training_that_learns_nothing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class_output: Any = Bcn.class_output
    favoured = torch.tensor([99.0, 0.0, 0.0, 0.0, 0.0])
    monkeypatch.setattr(
        Bcn,
        "class_output",
        lambda model, logits, label: class_output(model, logits + favoured, label),
    )

    model = train(tiny("sst", "input", "{ trainer+: { num_epochs: 1 } }"), tmp_path / "run")

    name = model.vocab.get_token_from_index(0, "labels")
    lines = (tmp_path / "run" / "out.log").read_text().splitlines()
    said = [line for line in lines if "always predicts one class" in line]
    assert len(said) == 1 and repr(name) in said[0]

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from elmo_tasks.training import report
from elmo_tasks.training.report import EpochReport


def lines(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, epochs: list[dict[str, Any]]
) -> list[str]:
    """Returns what is said of epochs of 10 seconds with 4 batches in the first 8 seconds."""
    seconds = 100.0
    # The module `time` itself is used by servers of other tests, too.
    monkeypatch.setattr(report, "time", SimpleNamespace(monotonic=lambda: seconds))
    tracker = SimpleNamespace(tracked_metrics=[(1.0, "accuracy")])
    trainer = SimpleNamespace(_num_epochs=4, _metric_tracker=tracker)
    callback = EpochReport("folder")
    with caplog.at_level(logging.INFO):
        callback.on_start(trainer)
        for epoch, metrics in enumerate(epochs):
            for _ in range(4):
                seconds += 2
                callback.on_batch(trainer, is_training=True)
            seconds += 2
            callback.on_batch(trainer, is_training=False)
            callback.on_epoch(trainer, metrics=metrics, epoch=epoch)
    return caplog.messages


def test_an_epoch_has_its_seconds_rate_metric_and_the_time_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    best = {"best_validation_accuracy": 0.5, "best_epoch": 0}
    epochs = [
        {"training_loss": 1.25, "validation_accuracy": 0.5, **best},
        {"training_loss": 1.0, "validation_accuracy": 0.25, **best},
        {"training_loss": 1.25, "best_epoch": 0},
    ]

    said = lines(monkeypatch, caplog, epochs)

    assert said == [
        "epoch 1 of 4: 10.0 s, 0.5 batches a second; loss 1.25; "
        "validation accuracy 0.5 (best 0.5, epoch 1); at most 30 s left",
        "epoch 2 of 4: 10.0 s, 0.5 batches a second; loss 1; "
        "validation accuracy 0.25 (best 0.5, epoch 1); at most 20 s left",
        "epoch 3 of 4: 10.0 s, 0.5 batches a second; loss 1.25; at most 10 s left",
    ]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(99, "99 s"), (100, "2 min"), (5999, "100 min"), (9000, "2.5 h")]
)
def test_a_time_has_a_fitting_unit(seconds: float, expected: str) -> None:
    assert report._span(seconds) == expected

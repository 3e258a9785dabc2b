import logging
from types import SimpleNamespace

import pytest

from elmo_tasks.training import report
from elmo_tasks.training.report import EpochReport


def test_an_epoch_has_its_seconds_metric_and_the_time_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = iter([100.0, 110.0, 120.0, 130.0])
    # The module `time` itself is used by servers of other tests, too.
    monkeypatch.setattr(report, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    tracker = SimpleNamespace(tracked_metrics=[(1.0, "accuracy")])
    trainer = SimpleNamespace(_num_epochs=4, _metric_tracker=tracker)
    callback = EpochReport("folder")
    best = {"best_validation_accuracy": 0.5, "best_epoch": 0}

    with caplog.at_level(logging.INFO):
        callback.on_start(trainer)
        for epoch, metrics in enumerate(
            [
                {"training_loss": 1.25, "validation_accuracy": 0.5, **best},
                {"training_loss": 1.0, "validation_accuracy": 0.25, **best},
                {"training_loss": 1.25, "best_epoch": 0},
            ]
        ):
            callback.on_epoch(trainer, metrics=metrics, epoch=epoch)

    assert caplog.messages == [
        "epoch 1 of 4: 10.0 s; loss 1.25; validation accuracy 0.5 (best 0.5, epoch 1); "
        "at most 0:00:30 left",
        "epoch 2 of 4: 10.0 s; loss 1; validation accuracy 0.25 (best 0.5, epoch 1); "
        "at most 0:00:20 left",
        "epoch 3 of 4: 10.0 s; loss 1.25; at most 0:00:10 left",
    ]

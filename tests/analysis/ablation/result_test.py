import json
from pathlib import Path

import pytest

from elmo_tasks.analysis.ablation.run import Run, find_metric, read_result
from elmo_tasks.common.errors import ConfigurationError


def finished(folder: Path, durations: list[str]) -> Run:
    run = Run(folder, "both", 1)
    run.folder.mkdir(parents=True)
    for epoch, duration in enumerate(durations):
        metrics = {"epoch": epoch, "training_duration": duration}
        (run.folder / f"metrics_epoch_{epoch}.json").write_text(json.dumps(metrics))
    metrics = {"best_epoch": 2, "best_validation_f1": 0.75, "best_validation_loss": 2.5}
    (run.folder / "metrics.json").write_text(json.dumps(metrics))
    return run


def test_a_result_is_the_metric_at_the_best_epoch(tmp_path: Path) -> None:
    # With twelve epochs, the names of their files are not in the order of the epochs.
    run = finished(tmp_path, [f"0:00:{3 * epoch:02}.500000" for epoch in range(1, 13)])

    assert read_result(run, "+f1") == (run, None, 0.75, 12, 2, 3.0)
    assert read_result(run, "-loss").value == 2.5


@pytest.mark.parametrize(
    ("durations", "seconds"),
    [
        (["1 day, 0:00:10"], 86410),
        (["2 days, 1:00:00", "2 days, 1:01:40"], (176400 + 100) / 2),
        # The training was killed after two epochs and recovered.
        (["0:00:10", "0:00:20", "0:00:11", "0:00:23", "0:00:35"], 11),
        # The first epoch after a recovery took 22 seconds, which look like 10 after 12 seconds.
        (["0:00:08", "0:00:12", "0:00:22", "0:00:32"], 9),
    ],
)
def test_seconds_of_an_epoch_are_told_from_the_time_since_training_began(
    tmp_path: Path, durations: list[str], seconds: float
) -> None:
    run = finished(tmp_path, durations)

    assert read_result(run, "+f1").seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("durations", "metric", "error"),
    [
        ([], "+f1", "both/seed1 has no metrics_epoch_*.json: no epoch was trained"),
        (
            ["0:00:01"],
            "+em",
            "metrics.json has no best_validation_em: the metric was never a number",
        ),
    ],
)
def test_a_run_without_a_value_has_failed(
    tmp_path: Path, durations: list[str], metric: str, error: str
) -> None:
    run = finished(tmp_path, durations)

    result = read_result(run, metric)

    assert error in (result.error or "")
    assert result == (run, result.error, None, 0, 0, 0.0)


def config(**trainer: object) -> dict:
    return {"validation_data_path": "dev.txt", "trainer": trainer}


def metric_of(*configs: dict) -> str:
    return find_metric({Run(Path(), "both", seed): each for seed, each in enumerate(configs)})


def test_the_metric_is_the_one_that_chooses_the_best_epoch() -> None:
    assert metric_of(*[config(validation_metric="+f1")] * 2) == "+f1"
    assert metric_of(config(validation_metric=["+em", "+f1"])) == "+em"
    assert metric_of(config()) == "-loss"


def test_runs_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="both, seed 0 has no validation_data_path"):
        metric_of({"trainer": {}})

    with pytest.raises(ConfigurationError, match="config of both, seed 1 has no trainer, which"):
        metric_of(config(), {"validation_data_path": "dev.txt"})

    with pytest.raises(ConfigurationError, match="validation_metric is .* or "):
        metric_of(config(validation_metric="+f1"), config())

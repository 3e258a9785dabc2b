import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from elmo_tasks.analysis.ablation.run import Run, find_metric, read_result
from elmo_tasks.common.errors import ConfigurationError


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Returns a run with the files of a completed training."""
    run = Run(tmp_path, "both", 1)
    run.folder.mkdir(parents=True)
    for name in ("config.json", "metrics.json"):
        (run.folder / name).write_text("{}")
    for name in ("training_state_e1_b0.th", "best.th", "model.tar.gz"):
        (run.folder / name).touch()
    return run


def cut(path: Path) -> None:
    """Leaves the file as a process does that is killed while it writes."""
    path.write_bytes(path.read_bytes()[:-1])


# What a kill does to a file, and whether the run is then complete, trained and interrupted.
KILLED = [
    (cut, "no.file", (True, True, True)),
    (Path.unlink, "model.tar.gz", (False, True, True)),
    # The archive is left, since AllenNLP archives a training that is stopped, too.
    (cut, "metrics.json", (False, False, True)),
    (Path.unlink, "metrics.json", (False, False, True)),
    (Path.unlink, "best.th", (False, False, True)),
    (Path.unlink, "training_state_*", (True, True, False)),
    (cut, "config.json", (True, True, False)),
    (Path.unlink, "config.json", (True, True, False)),
]


@pytest.mark.parametrize(("leave", "name", "expected"), KILLED)
def test_a_run_is_what_its_files_say(
    run: Run, leave: Callable, name: str, expected: tuple[bool, bool, bool]
) -> None:
    for path in run.folder.glob(name):
        leave(path)

    assert (run.is_complete(), run.is_trained(), run.is_interrupted()) == expected
    assert (run.trained_config() is None) == (name == "config.json")


def test_each_run_has_a_folder_a_config_and_a_log_of_its_own() -> None:
    root = Path("runs")
    part, whole = Run(root, "both", 1, 0.01), Run(root, "both", 1)

    folders = {Run(root, *each).folder for each in product(("a", "b"), (1, 2), (0.01, 0.001, 1.0))}
    assert len(folders) == 12
    assert part.log == root / "both" / "fraction_0.01" / "seed1.log"
    assert whole.config_file == root / "both" / "seed1.json"
    assert (str(part), str(whole)) == ("both, 1 % of the training data, seed 1", "both, seed 1")


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

    assert read_result(run, "+f1") == {
        "status": "complete",
        "value": 0.75,
        "epochs": 12,
        "best_epoch": 2,
        "seconds_an_epoch": 3.0,
    }
    assert read_result(run, "-loss")["value"] == 2.5


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

    assert read_result(run, "+f1")["seconds_an_epoch"] == pytest.approx(seconds)


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

    assert result == {"status": "failed", "error": result["error"]}
    assert error in result["error"]


def config(**trainer: object) -> dict:
    return {"validation_data_path": "dev.txt", "trainer": trainer}


def metric_of(*configs: dict) -> str:
    return find_metric({Run(Path(), "both", seed): each for seed, each in enumerate(configs)})


def test_the_metric_is_the_one_that_chooses_the_best_epoch() -> None:
    assert metric_of(*[config(validation_metric="+f1")] * 2) == "+f1"
    assert metric_of(config(validation_metric=["+em", "+f1"])) == "+em"
    assert metric_of(config()) == "-loss"


@pytest.mark.parametrize(
    ("configs", "words"),
    [
        ([{"trainer": {}}], "both, seed 0 has no validation_data_path"),
        ([config(), {"validation_data_path": "dev.txt"}], "both, seed 1 has no trainer, which"),
        ([config(validation_metric="+f1"), config()], "validation_metric is .* or "),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(configs: list[dict], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        metric_of(*configs)

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


# What a kill does to a file, and whether the run is then complete and interrupted.
KILLED = [
    (cut, "no.file", (True, True)),
    (Path.unlink, "model.tar.gz", (True, True)),
    # The archive is left, since AllenNLP archives a training that is stopped, too.
    (cut, "metrics.json", (False, True)),
    (Path.unlink, "metrics.json", (False, True)),
    (Path.unlink, "best.th", (False, True)),
    (Path.unlink, "training_state_*", (True, False)),
    (cut, "config.json", (True, False)),
    (Path.unlink, "config.json", (True, False)),
]


@pytest.mark.parametrize(("leave", "name", "expected"), KILLED)
def test_a_run_is_what_its_files_say(
    run: Run, leave: Callable, name: str, expected: tuple[bool, bool]
) -> None:
    for path in run.folder.glob(name):
        leave(path)

    assert (run.is_complete(), run.is_interrupted()) == expected
    assert (run.trained_config() is None) == (name == "config.json")


def test_each_run_has_a_folder_a_config_and_a_log_of_its_own() -> None:
    root = Path("runs")
    part, whole = Run(root, "both", 1, 0.01), Run(root, "both", 1)

    folders = {Run(root, *each).folder for each in product(("a", "b"), (1, 2), (0.01, 0.001, 1.0))}
    assert len(folders) == 12
    assert part.log == root / "both" / "fraction_0.01" / "seed1.log"
    assert whole.config_file == root / "both" / "seed1.json"
    assert (str(part), str(whole)) == ("both, 1 % of the training data, seed 1", "both, seed 1")


def finished(folder: Path, num_epochs: int) -> Run:
    run = Run(folder, "both", 1)
    run.folder.mkdir(parents=True)
    for epoch in range(num_epochs):
        (run.folder / f"metrics_epoch_{epoch}.json").write_text(json.dumps({"epoch": epoch}))
    metrics = {"best_epoch": 2, "best_validation_f1": 0.75, "best_validation_loss": 2.5}
    (run.folder / "metrics.json").write_text(json.dumps(metrics))
    return run


def test_a_result_is_the_metric_at_the_best_epoch(tmp_path: Path) -> None:
    run = finished(tmp_path, 12)

    assert read_result(run, "+f1") == {
        "status": "complete",
        "value": 0.75,
        "epochs": 12,
        "best_epoch": 2,
    }
    assert read_result(run, "-loss")["value"] == 2.5


@pytest.mark.parametrize(
    ("num_epochs", "metric", "error"),
    [
        (0, "+f1", "both/seed1 has no metrics_epoch_*.json: no epoch was trained"),
        (1, "+em", "metrics.json has no best_validation_em: the metric was never a number"),
    ],
)
def test_a_run_without_a_value_has_failed(
    tmp_path: Path, num_epochs: int, metric: str, error: str
) -> None:
    run = finished(tmp_path, num_epochs)

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

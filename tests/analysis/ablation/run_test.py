import json
import statistics
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from elmo_tasks.analysis.ablation.ablation import Progress, train_all, why_failed
from elmo_tasks.analysis.ablation.run import (
    Report,
    Run,
    epochs_done,
    find_metric,
    read_result,
    text_of,
)
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.ablation_reports import FAILED, ROOT, report, result


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


# What a kill does to a file, and whether the run is then complete.
KILLED = [
    (cut, "no.file", True),
    (Path.unlink, "model.tar.gz", False),
    # The archive is left, since AllenNLP archives a training that is stopped, too.
    (cut, "metrics.json", False),
    (Path.unlink, "metrics.json", False),
    (Path.unlink, "best.th", False),
    (Path.unlink, "training_state_*", True),
    (cut, "config.json", True),
    (Path.unlink, "config.json", True),
]


@pytest.mark.parametrize(("leave", "name", "expected"), KILLED)
def test_a_run_is_what_its_files_say(run: Run, leave: Callable, name: str, expected: bool) -> None:
    for path in run.folder.glob(name):
        leave(path)

    assert run.is_complete() is expected
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


def table(report: Report) -> list[list[str]]:
    lines = [line for line in text_of(report).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    # The second line is one of dashes.
    return [cells[0], *cells[2:]]


def test_the_table_has_a_row_for_each_variant() -> None:
    # The mean is 0.43, the deviations are 0.03, 0.01 and 0.02, and the variance is 0.0014 / 2.
    values = (0.40, 0.44, 0.45)
    results = [result("both", seed, value) for seed, value in enumerate(values, start=1)]

    shown = report(result("baseline", 1, 0.5), *results, result("input", 1, 0.6))

    assert table(shown) == [
        ["variant", "validation accuracy, %", "seeds", "epochs"],
        ["baseline", "50.00", "1 of 1", "5.0"],
        ["both", "43.00 ± 2.65", "3 of 3", "6.0"],
        ["input", "60.00", "1 of 1", "5.0"],
    ]
    assert shown["metric"] == "best_validation_accuracy"
    _, row, _ = shown["rows"]
    assert row["mean"] == pytest.approx(0.43)
    assert row["std"] == pytest.approx(statistics.stdev(values))
    assert (row["seeds"], row["values"]) == ([1, 2, 3], list(values))


def test_failed_runs_and_those_to_come_are_counted() -> None:
    failed, missing, other = Run(ROOT, "both", 2), Run(ROOT, "both", 3), Run(ROOT, "input", 1)

    shown = report(result("both", 1, 0.5), (failed, FAILED), (missing, {}), (other, FAILED))

    assert table(shown)[1:] == [
        ["both", "50.00", "1 of 3", "5.0"],
        ["input", "", "0 of 1", ""],
    ]
    states = [run["status"] for run in shown["runs"]]
    assert states == ["complete", "failed", "not yet", "failed"]
    assert shown["runs"][1]["error"] == "exit 1: KeyError"
    assert shown["rows"][1]["mean"] is None


def test_a_metric_that_is_no_part_of_one_is_shown_as_it_is() -> None:
    for metric, value in (("-perplexity", 0.5), ("+f1", 85.5)):
        shown = table(report(result("both", 1, value), metric=metric))

        assert shown[0][1] == f"validation {metric[1:]}"
        assert shown[1][1] == f"{value:.4f}"


def runs(folder: Path, number: int) -> list[Run]:
    return [Run(folder, "both", seed) for seed in range(number)]


def test_no_more_than_so_many_are_trained_at_a_time(tmp_path: Path) -> None:
    processes: list[subprocess.Popen] = []

    def begin(run: Run) -> subprocess.Popen:
        assert sum(process.poll() is None for process in processes) < 2
        processes.append(subprocess.Popen(["sleep", "0.3"]))
        return processes[-1]

    ended = dict(train_all(runs(tmp_path, 5), begin, jobs=2))

    assert sorted(ended) == runs(tmp_path, 5) and list(ended.values()) == processes


def test_what_runs_ends_with_the_ablation(tmp_path: Path) -> None:
    sleeping = subprocess.Popen(["sleep", "100"])
    trainings = train_all(runs(tmp_path, 3), lambda run: None if run.seed else sleeping, jobs=2)
    run, process = next(trainings)
    assert (run.seed, process) == (1, None)

    trainings.close()

    assert sleeping.poll() is not None


def test_a_run_that_failed_says_how_and_with_what_last_word(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, 1)
    run.log.parent.mkdir(parents=True)
    run.log.write_text("Traceback\nValueError: no such file\n\n")
    failed, killed = subprocess.Popen(["false"]), subprocess.Popen(["sleep", "9"])
    killed.kill()

    for process, cause in ((failed, "exit 1"), (killed, "signal 9")):
        process.wait()
        assert why_failed(run, process) == f"{cause}: ValueError: no such file"


def test_the_epochs_of_a_run_and_the_batches_of_its_log_are_counted(run: Run) -> None:
    assert epochs_done(run) == 0

    for epoch in range(2):
        (run.folder / f"metrics_epoch_{epoch}.json").touch()
    run.log.write_text("loading instances: 9it [00:00]\n")
    assert epochs_done(run) == 2

    bars = ("loss 1:  50%|#####     | 4/8 [00:01<", "loss 1:  75%|#######5  | 6/8 [00:02<")
    run.log.write_text("\n".join(bars))
    assert epochs_done(run) == 2.75


def test_a_bar_shows_how_far_the_runs_are_that_are_trained(
    run: Run, capsys: pytest.CaptureFixture
) -> None:
    other = Run(run.root, "both", 2)
    (run.folder / "metrics_epoch_0.json").touch()
    configs = {each: {"trainer": {"num_epochs": 4}} for each in (run, other)}

    with Progress("sst", configs, disable=False, mininterval=0) as progress:
        progress.show([run])
        progress.end(other)
        shown = progress.n

    assert shown == 1.25
    assert "both, seed 1: epoch 2 of 4" in capsys.readouterr().err

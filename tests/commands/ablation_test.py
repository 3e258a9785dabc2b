import json
import logging
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from allennlp.models.archival import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.analysis.ablation import ablation as trainings
from elmo_tasks.console import make_parser
from tests.helpers import processes
from tests.helpers.command_line import allennlp, exit_status, refusal
from tests.helpers.stop_callback import KILL, STOP_AT

ROOT = Path(__file__).parents[2]
START_PROCESS = trainings._process

# A shrunk variant of SST, whose best epoch is chosen by a metric that differs between seeds.
VARIANT = """\
(import '{root}/training_configs/sst/{name}.jsonnet')
+ (import '{root}/fixtures/tiny.libsonnet')
+ {{ trainer+: {{ validation_metric: '-loss', patience: null }} }}
"""
BROKEN = "(import 'baseline.jsonnet') { train_data_path: 'fixtures/no_such_file.txt' }"

Ablate = Callable[..., tuple[Any, str]]


class Forked:
    """
    A training in a fork of this process, which need not import anything, with what an ablation asks
    of a `subprocess.Popen`.
    """

    def __init__(self, command: list[str], log: BinaryIO) -> None:
        self.returncode: int | None = None
        self.pid = processes.start(lambda: self._train(command[3:], log))

    def poll(self) -> int | None:
        if self.returncode is None and os.waitid(
            os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT
        ):
            self.returncode = processes.end(self.pid)
        return self.returncode

    def _train(self, arguments: list[str], log: BinaryIO) -> None:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(log.fileno(), number)
            setattr(sys, name, os.fdopen(number, "w", closefd=False))
        logging.basicConfig(level=logging.INFO, force=True)
        allennlp(*arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "configs").mkdir()
    for name in ("baseline", "both"):
        text = VARIANT.format(root=ROOT, name=name)
        (tmp_path / "configs" / f"{name}.jsonnet").write_text(text)
    (tmp_path / "configs" / "broken.jsonnet").write_text(BROKEN)
    return tmp_path


def command(folder: Path, *args: object) -> list[str]:
    configs, runs = str(folder / "configs"), str(folder / "runs")
    return ["elmo-ablation", "sst", "--configs", configs, "-s", runs, *map(str, args)]


@pytest.fixture
def ablate(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Ablate:
    """
    Returns a function that runs the command here, and its trainings in forks: it returns the status
    and the output.
    """
    monkeypatch.setattr(trainings, "_process", Forked)

    def run(*args: object) -> tuple[Any, str]:
        status = exit_status(*command(folder, *args))
        return status, capsys.readouterr().out

    return run


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def epochs(number: int) -> str:
    return json.dumps({"trainer.num_epochs": number})


@pytest.mark.fork
def test_two_variants_and_two_seeds_are_trained_and_compared(folder: Path, ablate: Ablate) -> None:
    args = ("--variants", "baseline", "both", "--seeds", 1, 2, "--set", "hidden_dim=4")

    status, shown = ablate(*args, "-o", epochs(3), "--jobs", 2, "--threads", 1)

    assert status == 0
    runs, table = folder / "runs", (folder / "runs" / "table.md").read_text()
    assert table in shown
    table = re.sub(" +", " ", table)
    # A chart is of several fractions of the training data.
    assert not (runs / "chart.png").exists()
    results = read(runs / "results.json")
    for row, name in zip(results["rows"], ("baseline", "both"), strict=True):
        losses = [check_run(runs / name / f"seed{seed}", seed) for seed in (1, 2)]
        assert losses[0] != losses[1]
        # The standard deviation of two values is their distance, divided by the root of 2.
        mean, std = sum(losses) / 2, abs(losses[0] - losses[1]) / 2**0.5
        assert (row["variant"], row["seeds"], row["epochs"]) == (name, [1, 2], 3)
        assert (row["mean"], row["std"]) == pytest.approx((mean, std))
        assert f"| {name} | {mean:.4f} ± {std:.4f} | 2 of 2 | 3.0 |" in table
        for seed, loss in enumerate(losses, start=1):
            assert f"{name}, seed {seed}: validation loss {loss:.4f} after epoch " in shown


def check_run(run: Path, seed: int) -> float:
    """Returns the loss in the metrics of a run, and checks its config."""
    config = read(run / "config.json")
    assert [config[f"{what}_seed"] for what in ("random", "numpy", "pytorch")] == [seed] * 3
    assert config["model"]["encoder"]["hidden_size"] == 4
    assert config["trainer"]["num_epochs"] == 3
    assert "Beginning training" in run.with_suffix(".log").read_text()
    metrics = [read(path) for path in run.glob("metrics_epoch_*.json")]
    assert len(metrics) == 3
    return min(epoch["validation_loss"] for epoch in metrics)


@pytest.mark.fork
def test_a_failed_run_is_a_failed_row_and_a_finished_one_stays_as_it_is(
    folder: Path, ablate: Ablate
) -> None:
    args = ("--seeds", 1, "-o", epochs(1), "--variants", "baseline")

    status, shown = ablate(*args, "broken")

    assert status == 1
    archive, table = (
        folder / "runs" / name for name in ("baseline/seed1/model.tar.gz", "table.md")
    )
    log = folder / "runs" / "broken" / "seed1.log"
    assert "no_such_file.txt" in log.read_text()
    assert "broken, seed 1: failed (exit 1: " in shown and f"; its log is {log}\n" in shown
    assert re.search(r"\| broken +\| +\| 0 of 1 \|", table.read_text())
    states = [run["status"] for run in read(folder / "runs" / "results.json")["runs"]]
    assert states == ["complete", "failed"]
    made = archive.stat().st_mtime_ns

    status, shown = ablate(*args)

    assert status == 0
    assert "of 1; it was there already\n" in shown
    before = table.read_text()

    status, _ = ablate(*args, "--set", "hidden_dim=5")

    assert "baseline/seed1 was trained with other settings: model.classifier." in status

    status, _ = ablate(*args, "-o", epochs(2))

    assert "other settings: trainer.num_epochs was 1, not 2. Choose another" in status
    assert table.read_text() == before
    assert archive.stat().st_mtime_ns == made

    status, _ = ablate(*args, "-o", epochs(2), "--force")

    assert status == 0
    assert read(archive.with_name("config.json"))["trainer"]["num_epochs"] == 2
    (run,) = read(folder / "runs" / "results.json")["runs"]
    assert run["epochs"] == 2 and archive.stat().st_mtime_ns != made


@pytest.mark.fork
def test_a_run_that_was_killed_before_its_first_checkpoint_is_begun_anew(
    folder: Path, ablate: Ablate
) -> None:
    changes = json.dumps({"trainer.num_epochs": 1, "trainer.callbacks": ["stop"]})
    args: list[object] = ["--variants", "both", "--seeds", 1, "-o", changes]
    args += ["--include-package", "tests.helpers.stop_callback"]
    run = folder / "runs" / "both" / "seed1"
    kill_in_epoch(0, command(folder, *args), Forked)
    assert (run / "config.json").exists() and not list(run.glob("*.th"))

    status, _ = ablate(*args)

    assert status == 0
    assert read(folder / "runs" / "results.json")["runs"][0]["status"] == "complete"


@pytest.mark.fork
def test_an_ablation_that_was_killed_goes_on_where_it_was_and_predicts(
    folder: Path, ablate: Ablate
) -> None:
    changes = json.dumps({"trainer.num_epochs": 2, "trainer.callbacks": ["stop"]})
    args: list[object] = ["--variants", "both", "--seeds", 1, "--train-fraction", "0.5"]
    args += ["-o", changes, "--include-package", "tests.helpers.stop_callback"]
    run = folder / "runs" / "both" / "fraction_0.5" / "seed1"
    kill_in_epoch(2, command(folder, *args))
    assert not (run / "metrics.json").exists()
    assert len(list(run.glob("metrics_epoch_*.json"))) == 2
    assert "Beginning training" in run.with_suffix(".log").read_text()
    first = (run / "metrics_epoch_0.json").stat().st_mtime_ns

    status, shown = ablate(*args)

    assert status == 0
    assert "both, 50 % of the training data, seed 1: validation loss " in shown
    assert re.search(r"\| both +\| +50 % +\|", shown)
    # On half of the data a run has twice as many epochs.
    assert len(list(run.glob("metrics_epoch_*.json"))) == 4
    assert (run / "metrics_epoch_0.json").stat().st_mtime_ns == first
    assert "Recovering from prior training" in run.with_suffix(".log").read_text()
    check_archive(run / "model.tar.gz")


def kill_in_epoch(epoch: int, args: list[str], process: Any = START_PROCESS) -> None:
    """Kills the ablation and its training at once, as when a machine is switched off."""

    def work() -> None:
        os.setsid()
        trainings._process = process
        os.environ.update({STOP_AT: f"{epoch}:1", KILL: "group"})
        allennlp(*args)

    assert processes.run(work) == -signal.SIGKILL


def check_archive(path: Path) -> None:
    """That of a model which was trained on a part of the data."""
    archive = load_archive(path)
    for reader in (archive.dataset_reader, archive.validation_dataset_reader):
        reader.apply_token_indexers(reader.text_to_instance(reader.tokenizer.tokenize("Fine.")))
    assert len(list(archive.validation_dataset_reader.read("fixtures/sst.txt"))) == 10
    phrases = list(archive.dataset_reader.read("fixtures/sst.txt"))
    assert 0 < len(phrases) < 31
    for which in ("validation", "train"):
        predictor = Predictor.from_archive(archive, dataset_reader_to_load=which)
        answer = predictor.predict_json({"sentence": "The soup was good."})
        assert answer["tokens"] == ["The", "soup", "was", "good", "."]


BOTH: list[object] = ["--variants", "both", "--seeds", 1]
# The arguments, and words of the message.
REFUSED: list[tuple[list[object], str]] = [
    (["--variants", "bth", "--seeds", 1], "has no variant 'bth'; did you mean 'both'"),
    (["--seeds", 1], "give one or more --variants; there are baseline, both, broken"),
    ([*BOTH, "--set", "hiden_dim=4"], r"hiden_dim: .*both\.jsonnet has no .*mean 'hidden_dim'"),
    ([*BOTH, "--set", "elmo_at=['roof']"], "elmo_at must be a list of the places 'input' and "),
    ([*BOTH, "-o", "{"], r"both\.jsonnet cannot be read: "),
    ([*BOTH, "--set", "bilm=mini"], "of 'bilm=mini' is not jsonnet"),
]


@pytest.mark.parametrize(("args", "complaint"), REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_trained(
    folder: Path, ablate: Ablate, args: list[object], complaint: str
) -> None:
    status, _ = ablate(*args)

    assert re.search(complaint, status)
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["--variants", "both"], "the following arguments are required: --seeds"),
        (["--seeds=-1"], "--seeds: .* of at least 0"),
        (["--seeds", 1, "--train-fraction", "0,1"], "numbers above 0 and at most 1, .* not '0,1'"),
        (["--seeds", 1, "--train-fraction", "half"], "at most 1, such as 0.01,0.1,1, not 'half'"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(
    folder: Path, capsys: pytest.CaptureFixture, args: list[object], complaint: str
) -> None:
    _, *arguments = command(folder, *args)

    with pytest.raises(SystemExit, match="^2$"):
        make_parser("ablation").parse_args(["ablation", *arguments])

    assert re.search(complaint, capsys.readouterr().err)


def test_a_task_that_is_not_there_is_refused_with_those_that_are() -> None:
    message = refusal("elmo-ablation", "tst", "--variants", "both", "--seeds", 1)

    assert re.search("tst is not a folder with configs; did you mean 'sst'", message)

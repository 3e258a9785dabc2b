import json
from pathlib import Path

import pytest
import torch
from allennlp.models.archival import archive_model

from elmo_tasks.analysis.ablation.run import Run

WEIGHTS = {"weight": torch.zeros(2000)}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Returns a run with the files of a completed training."""
    run = Run(tmp_path, "both", 1)
    (run.folder / "vocabulary").mkdir(parents=True)
    (run.folder / "config.json").write_text(json.dumps({"model": {}}))
    for epoch in (1, 2):
        torch.save(WEIGHTS, run.folder / f"model_state_e{epoch}_b0.th")
        torch.save(WEIGHTS, run.folder / f"training_state_e{epoch}_b0.th")
    torch.save(WEIGHTS, run.folder / "best.th")
    (run.folder / "metrics.json").write_text(json.dumps({"best_epoch": 1}))
    archive_model(run.folder)
    return run


def cut(path: Path) -> None:
    """Leaves the file as a process does that is killed while it writes."""
    path.write_bytes(path.read_bytes()[:-20])


def state(run: Run) -> tuple[bool, bool, bool]:
    return run.is_complete(), run.is_trained(), run.is_interrupted()


def test_a_run_with_an_archive_is_complete(run: Run) -> None:
    assert state(run) == (True, True, True)


def test_a_run_that_was_killed_at_its_archive_has_been_trained(run: Run) -> None:
    (run.folder / "model.tar.gz").unlink()

    assert state(run) == (False, True, True)


@pytest.mark.parametrize(
    ("leave", "name"),
    [(cut, "metrics.json"), (Path.unlink, "metrics.json"), (Path.unlink, "best.th")],
)
def test_a_run_without_its_metrics_or_best_weights_goes_on(run: Run, leave, name: str) -> None:
    # The archive is left, since AllenNLP archives a training that is stopped, too.
    leave(run.folder / name)

    assert state(run) == (False, False, True)


def test_without_a_checkpoint_there_is_nothing_to_go_on_from(run: Run) -> None:
    for path in run.folder.glob("training_state_*"):
        path.unlink()

    assert not run.is_interrupted()


@pytest.mark.parametrize("leave", [cut, Path.unlink])
def test_without_a_config_there_is_nothing_to_go_on_from(run: Run, leave) -> None:
    leave(run.folder / "config.json")

    assert not run.is_interrupted()
    assert run.trained_config() is None


def test_a_folder_of_something_else_is_in_the_way(run: Run, tmp_path: Path) -> None:
    assert not run.is_in_the_way()

    other = Run(tmp_path, "both", 2)
    assert not other.is_in_the_way()

    other.folder.mkdir()
    assert not other.is_in_the_way()

    (other.folder / "thesis.txt").touch()

    assert other.is_in_the_way()
    assert state(other) == (False, False, False)


def test_each_run_has_a_folder_a_config_and_a_log_of_its_own() -> None:
    root = Path("runs")
    runs = [
        Run(root, variant, seed, fraction)
        for variant in ("both", "input")
        for seed in (1, 2)
        for fraction in (0.01, 0.001, 1.0)
    ]

    for paths in ({run.folder for run in runs}, {run.config_file for run in runs}):
        assert len(paths) == len(runs)

    part = runs[0]
    assert part.log == root / "both" / "fraction_0.01" / "seed1.log"
    assert str(part) == "both, 1 % of the training data, seed 1"
    assert str(runs[2]) == "both, seed 1"
    assert runs[2].config_file == root / "both" / "seed1.json"

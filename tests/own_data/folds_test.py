import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.own_data.folds import folds_line, train_folds

ROOT = Path(__file__).parents[2]
FIXTURE = str(ROOT / "fixtures" / "classify.csv")
CONFIG = {
    "dataset_reader": {"type": "elmo_classify"},
    "train_data_path": FIXTURE,
    "validation_data_path": FIXTURE,
    "trainer": {"validation_metric": "+accuracy"},
}


class Trainer:
    """Notes what it trains on; the score is the number of rows for validation, in thousandths."""

    def __init__(self, fails_at: int = 0) -> None:
        self.dev: list[list[str]] = []
        self.train: list[list[str]] = []
        self.fails_at = fails_at

    def __call__(self, overrides: dict[str, Any], training: Path) -> None:
        assert not training.exists()
        training.mkdir(parents=True)
        if len(self.dev) + 1 == self.fails_at:
            raise KeyboardInterrupt
        train, dev = (
            Path(overrides[f"{name}_data_path"]).read_text(encoding="utf-8").splitlines()
            for name in ("train", "validation")
        )
        self.train.append(train)
        self.dev.append(dev)
        metrics = {"best_validation_accuracy": len(dev) / 1000}
        (training / "metrics.json").write_text(json.dumps(metrics))


def test_each_row_is_in_the_validation_data_of_one_fold(tmp_path: Path) -> None:
    trainer = Trainer()

    scores = train_folds(CONFIG, tmp_path / "folds", 3, trainer)

    # The file is both, so that each row is there twice, in the same fold.
    held_out = [line for fold in trainer.dev for line in fold]
    assert len(held_out) == 20 and len(set(held_out)) == 10
    assert all(len(set(fold)) * 2 == len(fold) for fold in trainer.dev)
    for train, dev in zip(trainer.train, trainer.dev):
        assert not set(train) & set(dev) and len(train) + len(dev) == 20
    assert scores == [len(fold) / 1000 for fold in trainer.dev]
    assert sorted(path.name for path in (tmp_path / "folds").iterdir()) == [
        "1.json",
        "2.json",
        "3.json",
    ]


def test_folds_go_on_after_an_interruption(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train_folds(CONFIG, tmp_path, 3, Trainer(fails_at=2))
    trainer, whole = Trainer(), Trainer()

    scores = train_folds(CONFIG, tmp_path, 3, trainer)

    assert len(trainer.dev) == 2
    assert scores == train_folds(CONFIG, tmp_path / "whole", 3, whole)
    assert trainer.dev == whole.dev[1:]


def test_the_mean_and_the_deviation_are_said() -> None:
    line = folds_line("accuracy", [0.7, 0.8, 0.9])

    assert line == "accuracy in 3 folds: 80.0 ± 10.0 (70.0, 80.0, 90.0)"

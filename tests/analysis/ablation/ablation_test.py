from pathlib import Path

import pytest

from elmo_tasks.analysis.ablation.ablation import _share
from elmo_tasks.analysis.ablation.run import Run


@pytest.mark.parametrize(
    ("num_done", "config", "expected"),
    [
        (0, {"trainer": {"num_epochs": 4}}, 0),
        (3, {"trainer": {"num_epochs": 4}}, 0.75),
        (4, {"trainer": {"num_epochs": 4}}, 1),
        (1, {}, 1),
    ],
)
def test_the_bar_moves_with_every_epoch_of_a_run(
    num_done: int, config: dict, expected: float, tmp_path: Path
) -> None:
    run = Run(tmp_path, "both", 1)
    run.folder.mkdir(parents=True)
    for epoch in range(num_done):
        (run.folder / f"metrics_epoch_{epoch}.json").write_text("{}")

    assert _share(run, config) == expected

from pathlib import Path

import pytest
from allennlp.commands import find_learning_rate
from allennlp.common import Params

from tests.helpers.configs import tiny


def test_a_learning_rate_is_found_for_our_trainer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny("sst", "both")
    assert config["trainer"]["type"] == "elmo"

    find_learning_rate.find_learning_rate_model(
        Params(config), str(tmp_path), end_lr=1e4, num_batches=11, force=True
    )

    chart = tmp_path / "lr-losses.png"
    assert chart.stat().st_size > 1000
    assert capsys.readouterr().out == f"The loss by learning rate is in {chart}\n"

import json
import re
from pathlib import Path

import pytest

from tests.helpers.command_line import refusal
from tests.helpers.probe_configs import CONFIGS, ROOT, config_file


def test_configs_were_found() -> None:
    found = {path.stem for path in (ROOT / "training_configs" / "probe").glob("*.jsonnet")}

    assert found == set(CONFIGS)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{ no_field: 1 }", "Extra parameters passed to elmo-probe: .*no_field"),
        (
            "{ probe: { type: 'forest' } }",
            "type of the model must be linear or nearest, not 'forest'$",
        ),
        ("{ train_data_path: 'no_such_file.txt' }", "no_such_file.txt"),
        ("{ train_data_path: error 'no path' }", "pos.jsonnet: no path"),
    ],
)
def test_a_config_that_cannot_be_is_refused(tmp_path: Path, change: str, complaint: str) -> None:
    message = refusal("elmo-probe", config_file(tmp_path, "pos", change))

    assert message.startswith("elmo-probe: ") and re.search(complaint, message)


def test_overrides_change_the_config(tmp_path: Path) -> None:
    tag = json.dumps({"dataset_reader.tag_column": "lemma"})

    message = refusal("elmo-probe", config_file(tmp_path, "pos"), "-o", tag)

    assert "'lemma' exactly once" in message

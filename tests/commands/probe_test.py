import json
import re
from pathlib import Path

import pytest

from tests.helpers.command_line import allennlp, refusal
from tests.helpers.probe_configs import CONFIGS, ROOT, config_file


def test_configs_were_found() -> None:
    found = {path.stem for path in (ROOT / "training_configs" / "probe").glob("*.jsonnet")}

    assert found == set(CONFIGS)


def test_senses_are_the_nearest_of_their_words_and_the_file_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    numbers = tmp_path / "senses.json"

    allennlp("elmo-probe", config_file(tmp_path, "senses"), "--json", numbers)

    out = capsys.readouterr().out
    assert out.startswith("sense of fixtures/senses.txt in fixtures/bilm/weights.hdf5\n")
    written = json.loads(numbers.read_text())
    accuracy = {row["name"]: row["accuracy"] for row in written["rows"]}
    assert list(accuracy)[2:] == ["tokens", "LSTM 1", "LSTM 2"]
    # Senses of one word in the same form have the same vector in the layer of the tokens.
    assert accuracy["tokens"] < accuracy["LSTM 2"]


def test_a_column_that_is_not_there_is_said_with_the_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("The DT I-NP O\nboat NN\n")
    config = config_file(tmp_path, "pos", f"{{ validation_data_path: '{bad}' }}")

    assert refusal("elmo-probe", config) == (
        f"elmo-probe: {bad}:2: expected 4 columns (word pos chunk ner), but got 2: 'boat NN'"
    )
    tag = json.dumps({"dataset_reader.tag_column": "lemma"})
    assert "the columns must have 'lemma' exactly once" in refusal("elmo-probe", config, "-o", tag)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{ bilm: 'smal' }", "bilm must be one of base, fixture, medium, mini, .*, not smal"),
        ("{ no_field: 1 }", "Extra parameters passed to elmo-probe: .*no_field"),
        ("{ probe: { type: 'forest' } }", "forest"),
        ("{ train_data_path: 'no_such_file.txt' }", "no_such_file.txt"),
        ("{ train_data_path: error 'no path' }", "pos.jsonnet: no path"),
    ],
)
def test_a_config_that_cannot_be_is_refused(tmp_path: Path, change: str, complaint: str) -> None:
    message = refusal("elmo-probe", config_file(tmp_path, "pos", change))

    assert message.startswith("elmo-probe: ") and re.search(complaint, message)

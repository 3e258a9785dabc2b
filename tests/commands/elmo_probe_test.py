import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import allennlp
from tests.helpers.configs import SHIPPED

ROOT = Path(__file__).parents[2]
CONFIGS = {
    "pos": "fixtures/ner.txt",
    "senses": "fixtures/senses.txt",
}


def config_file(folder: Path, name: str, change: str = "{}") -> Path:
    """A config of training_configs/probe with the biLM and the data of the tests."""
    path = folder / f"{name}.jsonnet"
    data = f"train_data_path: '{CONFIGS[name]}', validation_data_path: '{CONFIGS[name]}'"
    path.write_text(
        f"(import '{ROOT}/training_configs/probe/{name}.jsonnet')"
        f" {{ bilm: 'fixture', {data} }} + {change}"
    )
    return path


def numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, *args: object
) -> dict[str, Any]:
    capsys.readouterr()
    allennlp(monkeypatch, "elmo-probe", *args, "--json", "-")
    return json.loads(capsys.readouterr().out)


def refusal(monkeypatch: pytest.MonkeyPatch, *args: object) -> str:
    with pytest.raises(SystemExit) as refused:
        allennlp(monkeypatch, "elmo-probe", *args)
    return str(refused.value)


def test_configs_were_found() -> None:
    assert set(SHIPPED["probe"]) == set(CONFIGS)


def test_parts_of_speech_are_learnt_from_each_layer_and_the_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    change = "{ probe+: { num_epochs: 20, batch_size: 16, learning_rate: 0.1 } }"
    config = config_file(tmp_path, "pos", change)

    found = numbers(monkeypatch, capsys, config)

    rows = {row["name"]: row for row in found["rows"]}
    names = ["most frequent tag", "most frequent tag of each word"]
    assert list(rows) == [*names, "tokens", "LSTM 1", "LSTM 2", "mix"]
    # Of the tokens that it was trained on, by a random biLM.
    assert all(rows[name]["accuracy"] > 0.7 for name in list(rows)[2:])
    assert sum(rows["mix"]["weights"]) == pytest.approx(1)
    lines = [line.split() for line in (ROOT / CONFIGS["pos"]).read_text().splitlines()]
    tags = [line[1] for line in lines if line and line[0] != "-DOCSTART-"]
    assert found["counts"]["train_tokens"] == found["counts"]["validation_tokens"] == len(tags)
    assert rows[names[0]]["accuracy"] == pytest.approx(max(map(tags.count, tags)) / len(tags))


def test_senses_are_the_nearest_of_their_words_and_the_files_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    files = {name: tmp_path / f"senses.{name}" for name in ("json", "png")}
    args = ("--json", files["json"], "--chart", files["png"])

    allennlp(monkeypatch, "elmo-probe", config_file(tmp_path, "senses"), *args)

    out = capsys.readouterr().out
    assert out.startswith("sense of fixtures/senses.txt in fixtures/bilm/weights.hdf5\n")
    written = json.loads(files["json"].read_text())
    accuracy = {row["name"]: row["accuracy"] for row in written["rows"]}
    assert list(accuracy)[2:] == ["tokens", "LSTM 1", "LSTM 2"]
    # Senses of one word in the same form have the same vector in the layer of the tokens.
    assert accuracy["tokens"] < accuracy["LSTM 2"]
    assert files["png"].read_bytes().startswith(b"\x89PNG")


def test_a_column_that_is_not_there_is_said_with_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("The DT I-NP O\nboat NN\n")
    config = config_file(tmp_path, "pos", f"{{ validation_data_path: '{bad}' }}")

    assert refusal(monkeypatch, config) == (
        f"elmo-probe: {bad}:2: expected 4 columns (word pos chunk ner), but got 2: 'boat NN'"
    )
    tag = json.dumps({"dataset_reader.tag_column": "lemma"})
    assert "'lemma' must be one of the columns" in refusal(monkeypatch, config, "-o", tag)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{ bilm: 'smal' }", "bilm must be one of fixture, medium, mini, .*, not smal"),
        ("{ no_field: 1 }", "Extra parameters passed to elmo-probe: .*no_field"),
        ("{ probe: { type: 'forest' } }", "forest"),
        ("{ train_data_path: 'no_such_file.txt' }", "no_such_file.txt"),
        ("{ train_data_path: error 'no path' }", "cannot be read: .*no path"),
    ],
)
def test_a_config_that_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, complaint: str
) -> None:
    message = refusal(monkeypatch, config_file(tmp_path, "pos", change))
    assert message.startswith("elmo-probe: ") and re.search(complaint, message)


def test_the_layers_are_read_from_a_store_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    config = config_file(tmp_path, "senses", f"{{ store: '{tmp_path}/layers' }}")

    first, second = (numbers(monkeypatch, capsys, config) for _ in range(2))

    assert first["rows"] == second["rows"]
    assert any((tmp_path / "layers").iterdir())

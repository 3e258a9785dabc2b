from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params

from elmo_tasks.analysis.probe.run_probe import run_config
from tests.helpers.probe_configs import CONFIGS, ROOT, config_file


def read(config: Path) -> dict[str, Any]:
    return Params.from_file(config).as_dict(quiet=True)


def test_parts_of_speech_are_learnt_from_each_layer_and_the_mix(tmp_path: Path) -> None:
    change = "{ probe+: { num_epochs: 20, batch_size: 16, learning_rate: 0.1 } }"
    config = config_file(tmp_path, "pos", change)

    found = run_config(read(config)).as_dict()

    rows = {row["name"]: row for row in found["rows"]}
    names = ["most frequent tag", "most frequent tag of each word"]
    assert list(rows) == [*names, "tokens", "LSTM 1", "LSTM 2", "mix"]
    # The biLM is random, but the probe is evaluated on the tokens that it was trained on.
    assert all(rows[name]["accuracy"] > 0.7 for name in list(rows)[2:])
    assert sum(rows["mix"]["weights"]) == pytest.approx(1)
    lines = [
        line.split() for line in (ROOT / CONFIGS["pos"]).read_text(encoding="utf-8").splitlines()
    ]
    tags = [line[1] for line in lines if line and line[0] != "-DOCSTART-"]
    assert found["counts"]["train_tokens"] == found["counts"]["validation_tokens"] == len(tags)
    assert rows[names[0]]["accuracy"] == pytest.approx(max(map(tags.count, tags)) / len(tags))


def test_the_layers_are_read_from_a_store_the_next_time(tmp_path: Path) -> None:
    config = config_file(tmp_path, "senses", f"{{ store: '{tmp_path}/layers' }}")

    first, second = (run_config(read(config)).as_dict() for _ in range(2))

    assert first["rows"] == second["rows"]
    assert any((tmp_path / "layers").iterdir())


def test_words_that_the_training_data_lacks_have_the_tags_of_the_back_off(tmp_path: Path) -> None:
    lines = ["Ships ship ship%1", "banks bank bank%river|bank%money", "", "She she -", ""]
    (tmp_path / "dev.txt").write_text("\n".join(lines))
    (tmp_path / "first.tsv").write_text("ship\tship%1\nbank\tbank%3\n")
    paths = {name: f"{tmp_path}/{name}" for name in ("dev.txt", "first.tsv")}
    change = f"{{ validation_data_path: '{paths['dev.txt']}', back_off_path: %s }}"

    without, found = (
        run_config(read(config_file(tmp_path, "senses", change % path))).as_dict()["rows"]
        for path in ("null", f"'{paths['first.tsv']}'")
    )

    # Both senses of the bank are right, so that only the ship is wrong without the back-off.
    assert [row["accuracy"] for row in without[1:]] == [0.5] * 4
    assert [row["accuracy"] for row in found[1:]] == [1] * 4


def test_the_config_is_left_as_it_is(tmp_path: Path) -> None:
    config = config_file(tmp_path, "senses")
    given = read(config)

    run_config(given)

    assert given == read(config)

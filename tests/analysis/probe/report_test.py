from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params

from elmo_tasks.analysis.probe.probe import MostFrequent, Probe, ProbeRow
from elmo_tasks.analysis.probe.report import run_config, run_probe, text_of
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens
from tests.helpers.probe_configs import CONFIGS, ROOT, config_file


class GivenRows(Probe):
    def rows(
        self, train: TaggedTokens, validation: TaggedTokens, most_frequent: MostFrequent
    ) -> Iterator[ProbeRow]:
        yield ProbeRow("tokens", 0.5)
        yield ProbeRow("mix", 1.0, [0.25, 0.75])


def tokens(keys: str, tags: str) -> TaggedTokens:
    right = [tuple(tag.split("|")) for tag in tags.split()]
    return TaggedTokens(keys.split(), right, torch.zeros(len(keys.split()), 1, 2))


REPORT = run_probe(
    "pos of dev.txt in a biLM whose name is a path of some length/weights.hdf5",
    GivenRows(),
    tokens("a a b c c", "X X Y Z X"),
    tokens("a b c d d d d e", "X Y X X Y V V X"),
)


def test_the_baselines_stand_before_the_layers_and_all_is_counted() -> None:
    rows = [(row["name"], row["accuracy"]) for row in REPORT["rows"]]

    assert rows == [
        # Four of eight tags are X.
        ("most frequent tag", 0.5),
        # b is right, too; c has Z as often as X, but Z first; d and e are unknown and get X.
        ("most frequent tag of each word", 0.5),
        ("tokens", 0.5),
        ("mix", 1.0),
    ]
    assert REPORT["counts"] == {
        "train_tokens": 5,
        "tags": 3,
        "validation_tokens": 8,
        "unseen_words": 5,
        "backed_off_words": 0,
        "unseen_tags": 2,
    }


def test_the_baseline_of_each_word_backs_off_and_any_right_tag_is_right() -> None:
    train, validation = tokens("a a b", "X X Y"), tokens("a c d e", "Z|X Y|W Z Y|X")

    report = run_probe("", GivenRows(), train, validation, {"a": "Z", "c": "W", "d": "Y"})

    # The most frequent tag of all, X, is right for a and e, but a, c and e are right of the words.
    assert [row["accuracy"] for row in report["rows"][:2]] == [0.5, 0.75]
    assert report["counts"]["unseen_words"] == 3 and report["counts"]["backed_off_words"] == 2
    # Neither tag of d is in the training data.
    assert report["counts"]["unseen_tags"] == 1
    assert "The back-off has 2 of these words." in text_of(report)
    assert "back-off" not in text_of(REPORT)


def test_the_text_is_a_table_with_the_weights_of_the_mix() -> None:
    text = text_of(REPORT)

    assert "| mix                            |      100.00 |" in text
    assert "Weights of the layers in the mix: 0.250 tokens, 0.750 LSTM 1." in text
    assert "The validation data has 8; the training data does not have the words of 5" in text
    assert REPORT["rows"][3] == {"name": "mix", "accuracy": 1.0, "weights": [0.25, 0.75]}


def read(config: Path) -> dict[str, Any]:
    return Params.from_file(config).as_dict(quiet=True)


def test_parts_of_speech_are_learnt_from_each_layer_and_the_mix(tmp_path: Path) -> None:
    change = "{ probe+: { num_epochs: 20, batch_size: 16, learning_rate: 0.1 } }"
    config = config_file(tmp_path, "pos", change)
    given = read(config)

    found = run_config(given)

    assert given == read(config)
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

    first, second = (run_config(read(config)) for _ in range(2))

    assert first["rows"] == second["rows"]
    assert any((tmp_path / "layers").iterdir())


def test_words_that_the_training_data_lacks_have_the_tags_of_the_back_off(tmp_path: Path) -> None:
    lines = ["Ships ship ship%1", "banks bank bank%river|bank%money", "", "She she -", ""]
    (tmp_path / "dev.txt").write_text("\n".join(lines))
    (tmp_path / "first.tsv").write_text("ship\tship%1\nbank\tbank%3\n")
    paths = {name: f"{tmp_path}/{name}" for name in ("dev.txt", "first.tsv")}
    change = f"{{ validation_data_path: '{paths['dev.txt']}', back_off_path: %s }}"

    without, found = (
        run_config(read(config_file(tmp_path, "senses", change % path)))["rows"]
        for path in ("null", f"'{paths['first.tsv']}'")
    )

    # Both senses of the bank are right, so that only the ship is wrong without the back-off.
    assert [row["accuracy"] for row in without[1:]] == [0.5] * 4
    assert [row["accuracy"] for row in found[1:]] == [1] * 4

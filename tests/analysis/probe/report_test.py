from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params

from elmo_tasks.analysis.probe.probe import LinearProbe
from elmo_tasks.analysis.probe.report import run_config, run_probe, text_of
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens
from tests.helpers.probe_configs import CONFIGS, ROOT, config_file


def tokens(keys: str, tags: str) -> TaggedTokens:
    """Returns tokens with one layer, in which all vectors are 0."""
    right = [tuple(tag.split("|")) for tag in tags.split()]
    return TaggedTokens(keys.split(), right, torch.zeros(len(keys.split()), 1, 2))


def test_the_baselines_stand_before_the_layers_and_any_right_tag_is_right() -> None:
    report = run_probe(
        "a title",
        LinearProbe(num_epochs=1),
        tokens("a a b c c", "X X Y Z X"),
        tokens("a b c d d d d e", "X Y X X|Y Y V V X"),
    )

    rows = [(row["name"], row["accuracy"]) for row in report["rows"]]
    assert rows[:2] == [
        # Four of eight tags are X.
        ("most frequent tag", 0.5),
        # b is right, too; c has Z as often as X, but Z first; d and e are unknown and get X.
        ("most frequent tag of each word", 0.5),
    ]
    assert [name for name, _ in rows[2:]] == ["tokens", "mix"]


def test_the_text_is_a_table_with_the_weights_of_the_mix() -> None:
    rows: list[dict[str, Any]] = [
        {"name": "tokens", "accuracy": 0.5, "weights": None},
        {"name": "mix", "accuracy": 1.0, "weights": [0.25, 0.75]},
    ]

    text = text_of({"title": "pos of dev.txt", "rows": rows})

    assert text.startswith("pos of dev.txt\n\n")
    assert "| mix    |      100.00 |" in text
    assert text.endswith("\nWeights of the layers in the mix: 0.250 tokens, 0.750 LSTM 1.")


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
    assert rows[names[0]]["accuracy"] == pytest.approx(max(map(tags.count, tags)) / len(tags))


def test_the_layers_are_read_from_a_store_the_next_time(tmp_path: Path) -> None:
    config = config_file(tmp_path, "senses", f"{{ store: '{tmp_path}/layers' }}")

    first, second = (run_config(read(config)) for _ in range(2))

    assert first["rows"] == second["rows"]
    assert any((tmp_path / "layers").iterdir())

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from benchmarks import srl
from benchmarks.srl import main, their_batch

ROOT = Path(__file__).parents[2]


def test_our_model_is_measured_without_allennlp_models(
    monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.setattr(srl, "SemanticRoleLabeler", None)
    tiny = f"import '{ROOT}/fixtures/tiny.libsonnet'"
    arguments = ["fixtures/srl.gold_conll", "--sentences", "3", "--turns", "1", "--set", tiny]

    out = printed(main, *arguments)

    heading, _, titles, _, *rows, _, first, _ = out.splitlines()
    assert "; 3 sentences with " in heading and " of srl.gold_conll, " in heading
    assert [row.split(" | ")[0] for row in rows] == ["| `baseline`", "| `input`"]
    for row in rows:
        assert row.count("|") == titles.count("|")
        assert all(float(cell) > 0 for cell in row.strip("| ").split(" | ")[2:])
    assert first == "`baseline`: allennlp-models is not installed (see --help)."


def test_a_batch_of_theirs_marks_the_predicate_in_its_sentence() -> None:
    batch = {
        "tokens": {},
        "predicate": torch.tensor([[1], [0]]),
        "tags": torch.zeros(2, 3, dtype=torch.long),
        "metadata": [
            {"tokens": ["A", "storm", "broke"], "predicate": 1},
            {"tokens": ["Run"], "predicate": 0},
        ],
    }

    theirs = their_batch(batch)  # type: ignore[arg-type]

    assert theirs["verb_indicator"].tolist() == [[0, 1, 0], [1, 0, 0]]
    assert [about["verb"] for about in theirs["metadata"]] == ["storm", "Run"]

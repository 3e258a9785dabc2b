from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import coref

ROOT = Path(__file__).parents[2]


def test_our_model_is_measured_without_allennlp_models(
    monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.setattr(coref, "CoreferenceResolver", None)
    tiny = f"import '{ROOT}/fixtures/tiny.libsonnet'"
    arguments = ["fixtures/coref.gold_conll", "--words", "20", "--turns", "1", "--set", tiny]

    out = printed(coref.main, *arguments)

    _, _, titles, _, *rows, _, words, last = out.splitlines()
    assert [row.split(" | ")[0] for row in rows] == ["| `baseline`", "| `input`"]
    for row in rows:
        assert row.count("|") == titles.count("|")
        assert all(float(cell) > 0 for cell in row.strip("| ").split(" | ")[2:])
    # The first document of the fixture, which is nearest to 20 words, has 8 + 8 + 4 words.
    assert words == "The document has 20 words."
    assert last == "allennlp-models is not installed (see --help)."

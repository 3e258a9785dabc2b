import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="onnx is not installed: pip install 'elmo-tasks[onnx]'")
pytest.importorskip(
    "onnxruntime", reason="onnxruntime is not installed: pip install 'elmo-tasks[onnx]'"
)

from benchmarks.without_pytorch import main

ROOT = Path(__file__).parents[2]


def test_three_ways_are_timed_and_their_layers_are_alike(printed: Callable[..., str]) -> None:
    text, bilm = ROOT / "fixtures" / "corpus" / "train.txt", ROOT / "fixtures" / "bilm"
    settings = ["--lines", "9", "--batch-size", "4", "--turns", "1"]

    out = printed(main, text, "--bilms", bilm, *settings)

    assert "9 lines and " in out
    rows = re.findall(r"^\| .* \| 0 \| (\S+) \| (.*) \| [\d,]+ \| [\d.]+ \|$", out, re.MULTILINE)
    assert [what for _, what in rows] == [
        "onnxruntime",
        "frozen biLM",
        "frozen biLM, warm cache of tokens",
    ]
    assert 0 < float(rows[0][0]) < 1e-5

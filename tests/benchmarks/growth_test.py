import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import growth

TEXT = Path(__file__).parents[2] / "fixtures" / "corpus" / "train.txt"


def test_tables_and_a_chart_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.setattr(growth, "in_a_process", lambda function, *arguments: function(*arguments))
    monkeypatch.setitem(growth.SIZES, "mini", (16, 8, 1, [[1, 4], [2, 4]]))
    chart = tmp_path / "growth.png"
    settings = ["--batches", "1", "3", "--lengths", "5", "8", "--tokens", "100", "--turns", "1"]

    out = printed(growth.main, TEXT, "--sizes", "mini", *settings, "--chart", chart)

    heads = re.findall(r"^\| (\w.+?) \| (.+) \|$", out, re.MULTILINE)
    assert heads == [
        ("lines of 20 tokens", "1 | 3"),
        ("tokens of a line", "5 | 8"),
        ("tokens of a text", "100"),
    ]
    assert len(re.findall(r"^\| `mini` \| [\d,]+", out, re.MULTILINE)) == 3
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_lines_are_read_over_and_over_and_the_last_one_is_cut(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a b\n\nc d e\n")

    assert list(growth.first_lines(str(text), 9)) == [
        ["a", "b"],
        ["c", "d", "e"],
        ["a", "b"],
        ["c", "d"],
    ]

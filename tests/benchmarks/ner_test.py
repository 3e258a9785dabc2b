import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.ner import counted, main
from tests.helpers.training import trained_archive


def test_stages_and_the_comparison_of_decoders_are_printed(
    tmp_path: Path, printed: Callable[..., str]
) -> None:
    archive = trained_archive(tmp_path, "ner", "input")
    settings = ["--turns", "1", "--threads", "1", "--batch-size", "4"]

    out = printed(main, archive, "fixtures/ner.txt", *settings)

    lines = Path("fixtures/ner.txt").read_text(encoding="utf-8").splitlines()
    num_tokens = sum(not line.startswith("-DOCSTART-") for line in lines if line)
    assert f"10 sentences, {num_tokens} tokens" in out
    rows = dict(re.findall(r"^\| ([^|]+) \| ([\d.]+) \|", out, re.MULTILINE))
    total = float(rows.pop("raw text to entities"))
    assert len(rows) == 8 and all(float(each) > 0 for each in rows.values())
    assert sum(map(float, rows.values())) == pytest.approx(total, abs=0.1)
    assert "; 0 differ." in out


def test_time_is_counted_where_a_function_fails() -> None:
    seconds = {"one": 0.0}

    def fail() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        counted(fail, seconds, "one")()

    assert seconds["one"] > 0

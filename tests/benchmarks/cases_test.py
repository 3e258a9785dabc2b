import re
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from benchmarks.cases import Case, lines_of, main
from tests.helpers.reference_bilm import FIXTURE_FILES

TEXT = Path(__file__).parents[2] / "fixtures" / "corpus" / "train.txt"


def test_a_row_for_each_case_is_printed(printed: Callable[..., str]) -> None:
    files = ["--options-file", FIXTURE_FILES[0], "--weight-file", FIXTURE_FILES[1]]
    settings = ["--tokens", "100", "--long-tokens", "1000", "--single", "1", "--turns", "1"]

    out = printed(main, TEXT, *files, *settings, "--threads", "1")

    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \| ([\d,]+) \| [\d.]+ \| (.*)\|$", out, re.MULTILINE)
    assert len(rows) == 8 and "100 tokens of train.txt" in out
    # Only single calls have milliseconds: those of 20 tokens.
    assert [name for name, _, _, times in rows if re.search(r"\d", times)] == [
        "one line at a time, one thread",
        "one line at a time, 1 threads",
    ]


def test_lines_have_one_length_and_what_is_left_over_is_left_out() -> None:
    tokens, settings = list("abcdefgh"), Namespace(tokens=7, long_tokens=0, single=1)

    assert lines_of(Case("", length=3), tokens, settings) == [["a", "b", "c"], ["d", "e", "f"]]
    assert lines_of(Case("", length=3, single=True), tokens, settings) == [["a", "b", "c"]]

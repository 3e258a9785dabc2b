import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.scoring import main
from tests.helpers.reference_bilm import FIXTURE_FILES

TEXT = Path(__file__).parents[2] / "fixtures" / "corpus" / "heldout.txt"


def test_a_row_for_each_part_of_scoring_is_printed(printed: Callable[..., str]) -> None:
    options = ["--bilm", FIXTURE_FILES[1], "--words", "30", "--lines", "5", "--turns", "1"]

    out = printed(main, TEXT, *options)

    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \| [\d.]+ \|$", out, re.MULTILINE)
    assert [name for name, _ in rows][::3] == ["matrix products alone", "scoring"]
    assert len(rows) == 4

import re
import sys
from pathlib import Path

import pytest

from benchmarks.scoring import main
from tests.helpers.reference_bilm import FIXTURE_FILES

TEXT = Path(__file__).parents[2] / "fixtures" / "corpus" / "heldout.txt"


def test_a_row_for_each_part_of_scoring_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    options = ["--bilm", str(FIXTURE_FILES[1]), "--words", "30", "--lines", "5", "--turns", "1"]
    monkeypatch.setattr(sys, "argv", ["scoring", str(TEXT), *options])

    main()

    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \| [\d.]+ \|$", capsys.readouterr().out, re.MULTILINE)
    assert [name for name, _ in rows][::3] == ["matrix products alone", "scoring"]
    assert len(rows) == 4

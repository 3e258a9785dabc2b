"""
Golden results: what layers, models, trainings and commands gave before must stay. These tests use
what a user uses, so that they hold whatever moves inside.
"""

import json
from pathlib import Path

import pytest

from tests.golden.cases import FILES, FOLDER
from tests.golden.numbers import assert_close, round_numbers

CASES = [(file, name) for file, golden in FILES.items() for name in golden.cases]


@pytest.mark.parametrize(("file", "name"), CASES)
def test_results_are_the_golden_ones(file: str, name: str, tmp_path: Path) -> None:
    golden = FILES[file]
    expected = json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8"))

    assert expected.keys() == golden.cases.keys()
    found = round_numbers(golden.cases[name](tmp_path))

    assert_close(found, expected[name], {"rel": golden.rel, "abs": golden.abs}, name)

"""Tests that damaged files of data are read, or refused in one short line with file and line."""

import random
from pathlib import Path

import pytest

from scripts.fault_damage import KINDS, damage, is_located

READERS = [name for name, kind in KINDS.items() if kind.has_lines]


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_refused_by_a_short_line_with_its_place(
    name: str, tmp_path: Path
) -> None:
    kind, chance = KINDS[name], random.Random(f"damaged {name}")
    path = kind.make(tmp_path)
    whole = path.read_bytes()
    num_refused = 0

    for _ in range(30):
        path.write_bytes(whole)
        damage(path, kind, chance)
        try:
            kind.read(path)
        except ValueError as error:
            assert is_located(error, path), str(error)
            num_refused += 1

    assert num_refused > 0


def test_the_readers_of_all_tasks_are_tried() -> None:
    assert len(READERS) == 9

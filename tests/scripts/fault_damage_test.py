import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from scripts import fault_damage
from scripts.fault_damage import KINDS, Kind, Row, damage_table


def text(folder: Path) -> Path:
    path = folder / "text"
    path.write_text(100 * "text ")
    return path


def answers(monkeypatch: pytest.MonkeyPatch, kind: Kind) -> Row:
    monkeypatch.setitem(KINDS, "text", kind)
    (row,) = damage_table(0, 2, ["text"])
    assert (row.kind, row.tried) == ("text", 2)
    assert row.clear + row.right + len(row.bad) == row.tried
    return row


def test_the_same_seed_damages_the_same_files_in_the_same_way() -> None:
    first, again = (damage_table(3, 5, ["SST", "NER"]) for _ in range(2))

    assert first == again
    assert [row.kind for row in first] == ["SST", "NER"]
    assert [row.bad for row in first] == [[], []]
    assert all(row.clear > 0 for row in first)


@pytest.mark.parametrize("seed", range(20))
def test_damage_of_bytes_changes_a_file(tmp_path: Path, seed: int) -> None:
    for content in (b"", b"a", os.urandom(5000)):
        path = tmp_path / "file"
        path.write_bytes(content)

        fault_damage.damage(path, Kind(text, Path.read_bytes), random.Random(seed))

        assert path.exists()


def raise_after_damage(error: BaseException) -> Callable[[Path], Any]:
    def read(path: Path) -> str:
        content = path.read_bytes()
        if content != text(path.parent).read_bytes():
            raise error
        return "whole"

    return read


@pytest.mark.parametrize(
    ("error", "clear"),
    [
        (ConfigurationError("file:1: wrong"), False),
        (FileNotFoundError("file"), True),
        (SystemExit("elmo-check: wrong"), True),
        (SystemExit(1), False),
        (KeyError("x"), False),
        (ValueError("raised outside of elmo_tasks"), False),
    ],
)
def test_an_error_is_clear_if_a_command_says_it_in_one_line(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, clear: bool
) -> None:
    row = answers(monkeypatch, Kind(text, raise_after_damage(error)))

    assert (row.clear, len(row.bad)) == ((2, 0) if clear else (0, 2))


def test_a_wrong_answer_a_crash_and_a_hang_are_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()

    def crash(path: Path) -> None:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    def hang(path: Path) -> None:
        if os.getpid() != parent:
            time.sleep(60)

    def fill(path: Path) -> int:
        return len(b"x" * (0 if os.getpid() == parent else 10**9))

    wrong = answers(monkeypatch, Kind(text, lambda path: path.read_bytes(), must_equal=True))
    assert {answer.partition(": ")[2] for answer in wrong.bad} == {"read wrongly"}
    assert "the process ended with -9" in answers(monkeypatch, Kind(text, crash)).bad[0]
    assert "MB more memory" in answers(monkeypatch, Kind(text, fill)).bad[0]

    monkeypatch.setattr(fault_damage, "MOST_SECONDS", 1)
    assert "no answer in 1 s" in answers(monkeypatch, Kind(text, hang)).bad[0]

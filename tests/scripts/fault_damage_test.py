import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from scripts import fault_damage
from scripts.fault_damage import KINDS, Kind, damage_table

PARENT = os.getpid()


def text(folder: Path) -> Path:
    path = folder / "text"
    path.write_text(100 * "text ")
    return path


def in_child(work: Callable[[], Any]) -> Callable[[Path], Any]:
    """Reads the whole file here, and does some work where a damaged one is read."""
    return lambda path: work() if os.getpid() != PARENT else None


def raising(error: BaseException) -> Callable[[Path], Any]:
    def work() -> None:
        raise error

    return in_child(work)


def test_the_same_seed_damages_the_same_files_in_the_same_way() -> None:
    first, again = (damage_table(3, 3, ["SST", "NER"]) for _ in range(2))

    assert first == again
    assert [(row.kind, row.tried, row.bad) for row in first] == [("SST", 3, []), ("NER", 3, [])]
    assert all(row.clear > 0 for row in first)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (raising(FileNotFoundError("file")), "clear"),
        (raising(SystemExit("elmo-check: wrong")), "clear"),
        (raising(ConfigurationError("file:1: wrong")), "ConfigurationError: file:1: wrong"),
        (raising(SystemExit(1)), "SystemExit: 1"),
        (raising(ValueError("raised outside of elmo_tasks")), "ValueError"),
        (Path.read_bytes, "read wrongly"),
        (in_child(lambda: os.kill(os.getpid(), signal.SIGKILL)), "the process ended with -9"),
        (in_child(lambda: len(b"x" * 10**8)), "MB more memory"),
        (in_child(lambda: time.sleep(60)), "no answer in 1 s"),
    ],
)
def test_only_an_error_that_a_command_says_in_one_line_is_clear(
    read: Callable[[Path], Any], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "text", Kind(text, read, must_equal=True))
    monkeypatch.setattr(fault_damage, "MOST_MEGABYTES", 30)
    if "no answer" in expected:
        monkeypatch.setattr(fault_damage, "MOST_SECONDS", 1)

    ((kind, tried, clear, _, bad),) = damage_table(0, 1, ["text"])

    assert (kind, tried) == ("text", 1)
    assert clear == (expected == "clear") and len(bad) == 1 - clear
    assert all(expected in answer for answer in bad)

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import epochs

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_an_epoch_of_a_task_is_measured(
    monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    class Here:
        """A pool that runs in this process, which has imported everything."""

        def __enter__(self) -> "Here":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def apply(self, function, arguments):
            return function(*arguments)

    monkeypatch.setattr(epochs.multiprocessing, "get_context", lambda _: epochs.multiprocessing)
    monkeypatch.setattr(epochs.multiprocessing, "Pool", lambda _: Here())
    tiny = f"(import '{FIXTURES}/tiny.libsonnet')"

    out = printed(epochs.main, "--tasks", "sst", "--instances", "5", "--set", tiny)

    row = re.search(r"^\| sst \| ([\d,]+) \| ([\d,]+) \|", out, re.MULTILINE)
    assert row is not None and row[1] == "5" and int(row[2]) >= 5

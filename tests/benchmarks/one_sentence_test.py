import re
import time
from collections.abc import Callable

import pytest

from benchmarks.one_sentence import SENTENCE, Clock, main


def test_the_parts_of_each_model_add_up_to_its_time(printed: Callable[..., str]) -> None:
    assert len(SENTENCE.replace(".", " .").split()) == 20

    out = printed(main, "--models", "base", "sst", "--turns", "1")

    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", out, re.MULTILINE)
    assert [name for name, _ in rows] == ["base", "sst"]
    for name, cells in rows:
        total, *parts = map(float, cells.split(" | "))
        assert total == pytest.approx(sum(parts), abs=0.5)
        tensors, cnn, lstms, task_model, _ = parts
        assert min(tensors, cnn, lstms) > 0
        assert (task_model > 0) == (name == "sst")


def test_time_within_a_part_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([1.0, 3.0, 7.0, 15.0])
    monkeypatch.setattr(time, "thread_time", lambda: next(now))
    clock = Clock()

    with clock.part("outer"), clock.part("inner"):
        pass

    assert clock.seconds == {"outer": 2 + 8, "inner": 4}

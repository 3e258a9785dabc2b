import re
from collections.abc import Callable

import pytest

from benchmarks.training_parts import main
from tests.helpers.configs import TINY


def test_the_parts_and_operators_of_steps_of_a_bilm_and_of_a_task_are_printed(
    printed: Callable[..., str],
) -> None:
    arguments = ["base", "sst", "--set", TINY, "--turns", "1", "--words", "200"]

    out = printed(main, *arguments, "--dtype", "float32")

    _, base, of_base, sst, of_sst = out.split("\n\n")
    of_both = {"recurrences", "products of layers", "reading", "optimizer", "rest of the gradients"}
    for table, further in ((base, {"softmax"}), (sst, {"rest of the forward pass"})):
        rows = re.findall(r"^\| (.+) \| ([\d.]+) \| (\d+)% \|$", table, re.MULTILINE)
        assert {name for name, _, _ in rows} >= of_both | further
        assert sum(int(share) for _, _, share in rows) == pytest.approx(100, abs=6)
    for table, recurrence in ((of_base, "Recurrence"), (of_sst, "LstmSteps")):
        shares = dict(re.findall(r"^\| (.+) \| \d+ \| (\d+)% \|$", table, re.MULTILINE))
        assert any(name.startswith(recurrence) for name in shares)
        assert 50 < sum(map(int, shares.values())) < 115

import json
import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.serve import main
from tests.helpers.archives import sst


def test_a_row_for_each_number_of_clients_is_printed(
    tmp_path: Path, printed: Callable[..., str]
) -> None:
    (tmp_path / "model").mkdir()
    archive = sst(tmp_path / "model", "baseline")
    inputs = tmp_path / "in.jsonl"
    inputs.write_text(
        "".join(json.dumps({"sentence": f"film {k}"}) + "\n" for k in range(70)), encoding="utf-8"
    )

    out = printed(main, archive, inputs, "--requests", "20", "--turns", "1")

    assert "; 20 inputs a turn\n" in out
    number = r" +([\d.]+) \|"
    rows = re.findall(rf"^\| (.*?) +\|{4 * number}$", out, re.MULTILINE)
    assert [name for name, *_ in rows] == [
        "predictor, 1 at a time",
        "predictor, 32 at a time",
        "server, 1 client",
        "server, 8 clients",
        "server, 64 clients",
    ]
    assert rows[0][2] == rows[0][4] == "1.00"
    assert all(float(figure) > 0 for row in rows for figure in row[1:])

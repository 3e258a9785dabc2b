import json
from pathlib import Path

import pytest

from tests.helpers.archives import set_mixes, sst
from tests.helpers.command_line import allennlp, refusal


def test_the_table_has_a_row_for_each_place_and_the_files_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    both = tmp_path / "sst" / "both"
    both.mkdir(parents=True)
    sst(both, "both")
    set_mixes(both, input_mix=([1.0, -0.5, 2.0], 0.5), output_mix=([0.0, 3.0, 0.0], 2.0))
    numbers, chart = tmp_path / "made" / "mix.json", tmp_path / "made" / "mix.png"

    allennlp("elmo-mix", f"SST={both}", "--json", numbers, "--chart", chart)

    table = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if "|" in line]
    rows = [[cell.strip() for cell in line] for line in table]
    columns = "model place s0 s1 s2 gamma".split() + ["gamma s0", "gamma s1", "gamma s2"]
    assert rows[0] == columns
    # exp(1), exp(-0.5) and exp(2) are 2.718, 0.607 and 7.389: 10.714 together.
    shown = ["SST", "input", "0.254", "0.057", "0.690", "0.500", "0.127", "0.028", "0.345"]
    assert rows[2] == shown
    assert len(rows) == 4 and len({len(line) for line in table}) == 1
    written = json.loads(numbers.read_text())
    assert [mix["model"] for mix in written["mixes"]] == ["SST", "SST"]
    assert list(written["mixes"][0]) == ["model", "place", "weights", "gamma", "products"]
    assert written["command"].startswith("allennlp elmo-mix SST=")
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in numbers.parent.iterdir()} == {"mix.json", "mix.png"}


def test_an_archive_without_elmo_says_so(tmp_path: Path) -> None:
    archive = sst(tmp_path, "baseline")

    message = refusal("elmo-mix", archive)

    assert message.startswith(f"elmo-mix: {archive} holds no mix of elmo_tasks, but a Bcn")

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
    assert rows[0] == "model place s0 s1 s2 gamma".split()
    # exp(1), exp(-0.5) and exp(2) are 2.718, 0.607 and 7.389: 10.714 together.
    assert rows[2] == ["SST", "input", "0.254", "0.057", "0.690", "0.500"]
    # exp(3) is 20.086, beside 1 and 1.
    assert rows[3] == ["SST", "output", "0.045", "0.909", "0.045", "2.000"]
    assert len(rows) == 4 and len({len(line) for line in table}) == 1
    written = json.loads(numbers.read_text())
    assert [mix["model"] for mix in written["mixes"]] == ["SST", "SST"]
    assert list(written["mixes"][0]) == ["model", "place", "weights", "gamma"]
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in numbers.parent.iterdir()} == {"mix.json", "mix.png"}


def test_an_archive_without_elmo_says_so(tmp_path: Path) -> None:
    archive = sst(tmp_path, "baseline")

    message = refusal("elmo-mix", archive)

    assert message.startswith(f"elmo-mix: {archive} holds a Bcn without a mix")

import json
from pathlib import Path

import pytest

from tests.helpers.archives import sst
from tests.helpers.command_line import allennlp, refusal


def test_the_files_have_the_mix_of_each_place(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    archive = sst(tmp_path, "both")
    numbers, chart = tmp_path / "made" / "mix.json", tmp_path / "made" / "mix.png"

    allennlp("elmo-mix", f"SST={archive}", "--json", numbers, "--chart", chart)

    assert capsys.readouterr().out.count("| SST ") == 2
    mixes = json.loads(numbers.read_text())["mixes"]
    assert [(mix["model"], mix["place"]) for mix in mixes] == [("SST", "input"), ("SST", "output")]
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_an_archive_without_elmo_says_so(tmp_path: Path) -> None:
    archive = sst(tmp_path, "baseline")

    message = refusal("elmo-mix", archive)

    assert message.startswith(f"elmo-mix: {archive} holds a Bcn without a mix")

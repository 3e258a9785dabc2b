import argparse
import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from elmo_tasks.commands.reports import add_report, deliver


def parse(*args: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_report(parser)
    return parser.parse_args(args)


def never() -> Figure:
    raise AssertionError("no chart was asked for")


def test_by_default_the_text_is_printed_and_nothing_is_drawn(capsys: pytest.CaptureFixture) -> None:
    deliver(parse(), "a text", {"n": 1}, never)

    assert capsys.readouterr().out == "a text\n"


def test_control_characters_of_a_name_are_escaped(capsys: pytest.CaptureFixture) -> None:
    deliver(parse(), "a\x1b[2J\nb", {}, never)

    assert capsys.readouterr().out == "a\\x1b[2J\nb\n"


def test_a_dash_prints_the_numbers_in_place_of_the_text(capsys: pytest.CaptureFixture) -> None:
    deliver(parse("--json", "-"), "a text", {"words": ["Zoë"]}, never)

    out = capsys.readouterr().out
    assert json.loads(out)["words"] == ["Zoë"] and "Zoë" in out


def test_a_picture_that_fails_leaves_no_file_and_the_text_was_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    with pytest.raises(AssertionError):
        deliver(parse("--chart", str(tmp_path / "chart.png")), "a text", {}, never)

    assert capsys.readouterr().out == "a text\n"
    assert list(tmp_path.iterdir()) == []

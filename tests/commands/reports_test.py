import argparse
import json

import pytest

from elmo_tasks.commands.reports import add_report, deliver


def parse(*args: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_report(parser)
    return parser.parse_args(args)


def test_by_default_the_text_is_printed(
    capsys: pytest.CaptureFixture,
) -> None:
    deliver(parse(), "a text", {"n": 1})

    assert capsys.readouterr().out == "a text\n"


def test_control_characters_of_a_name_are_escaped(capsys: pytest.CaptureFixture) -> None:
    deliver(parse(), "a\x1b[2J\nb", {})

    assert capsys.readouterr().out == "a\\x1b[2J\nb\n"


def test_a_dash_prints_the_numbers_in_place_of_the_text(capsys: pytest.CaptureFixture) -> None:
    deliver(parse("--json", "-"), "a text", {"words": ["Zoë"]})

    out = capsys.readouterr().out
    assert json.loads(out)["words"] == ["Zoë"] and "Zoë" in out

import argparse
from collections.abc import Callable

import pytest
from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.util import SigTermReceived

from elmo_tasks.commands.command import Command
from elmo_tasks.common.errors import ConfigurationError


class Raising(Command):
    """Raises an error."""

    name = "raising"
    description = "One   paragraph."
    help = "Raise an error."

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("word")

    def run(self, args: argparse.Namespace) -> None:
        assert args.word == "now"
        raise self.error


def ended(command: Subcommand, *options: str) -> int | str | None:
    """Returns the argument of `sys.exit`."""
    parser = argparse.ArgumentParser("allennlp")
    command.add_subparser(parser.add_subparsers())
    args = parser.parse_args(["raising", "now", *options])
    with pytest.raises(SystemExit) as caught:
        args.func(args)
    return caught.value.code


@pytest.mark.parametrize(
    "error", [ConfigurationError, AllenNlpConfigurationError, OSError, ValueError]
)
def test_an_error_of_the_user_ends_the_command_with_one_line(
    error: Callable[[str], Exception],
) -> None:
    assert ended(Raising(error("no such biLM"))) == "allennlp raising: no such biLM"


def test_a_message_begins_with_the_command_as_it_was_typed() -> None:
    args = Raising(OSError("no disk")).parser("elmo-tasks raise").parse_args(["now"])

    with pytest.raises(SystemExit, match="^elmo-tasks raise: no disk$"):
        args.func(args)


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SigTermReceived])
def test_an_interrupt_says_whether_the_same_command_goes_on(
    signal: Callable[[], BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    assert ended(Raising(signal())) == 130
    assert capsys.readouterr().err == "allennlp raising: interrupted\n"

    monkeypatch.setattr(Raising, "can_be_continued", True)

    assert ended(Raising(signal())) == 130
    message = "allennlp raising: interrupted; the same command goes on from here\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("by", ["option", "variable"])
def test_a_traceback_is_shown_to_who_wants_it(
    by: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert ended(Raising(OSError("no disk"))) == "allennlp raising: no disk"
    assert "Traceback" not in capsys.readouterr().err

    if by == "variable":
        monkeypatch.setenv("ELMO_TASKS_DEBUG", "1")
    options = ["--debug"] if by == "option" else []

    assert ended(Raising(OSError("no disk")), *options) == "allennlp raising: no disk"
    assert "Traceback" in capsys.readouterr().err


def test_control_characters_of_a_message_are_escaped() -> None:
    assert ended(Raising(ValueError("no \x1b[2J"))) == "allennlp raising: no \\x1b[2J"


def test_an_error_of_the_code_is_raised_with_its_traceback() -> None:
    parser = argparse.ArgumentParser()
    Raising(KeyError("bug")).add_subparser(parser.add_subparsers())
    args = parser.parse_args(["raising", "now"])

    with pytest.raises(KeyError):
        args.func(args)


def test_a_command_with_examples_prints_them_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Raising, "examples", "examples:\n  raising   now\n")

    parser = argparse.ArgumentParser().add_subparsers()

    assert "\n  raising   now\n" in Raising(OSError()).add_subparser(parser).format_help()

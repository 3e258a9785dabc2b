import argparse
import re
import types
from typing import Any
from unittest.mock import patch

import pytest
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.util import SigTermReceived

from elmo_tasks.archives import check_config
from elmo_tasks.commands.command import COMMANDS, add_command, load
from elmo_tasks.common.errors import ConfigurationError

DOC = """
Raise an error.

One
paragraph.

examples:
  raising   now
"""


def raising(error: BaseException) -> Any:
    """Returns a command that raises an error."""
    command: Any = types.ModuleType("raising", DOC)

    def run(args: argparse.Namespace) -> None:
        assert args.word == "now"
        raise error

    command.add_arguments = lambda parser: parser.add_argument("word")
    command.run = run
    return command


def parse(command: Any, *options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser("elmo-tasks")
    add_command(parser.add_subparsers(), "raising", command).set_defaults(include_package=[])
    return parser.parse_args(["raising", "now", *options])


def ended(command: Any, *options: str) -> int | str | None:
    """Returns the argument of `sys.exit`."""
    args = parse(command, *options)
    with pytest.raises(SystemExit) as caught:
        args.func(args)
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConfigurationError("no such biLM"), "no such biLM"),
        (AllenNlpConfigurationError("no such\n  reader"), "no such reader"),
        (ValueError("a.csv:3: no text"), "a.csv:3: no text"),
        (OSError(28, "No space left", "a.hdf5"), "a.hdf5: No space left"),
        (ValueError("no \x1b[2J"), "no \\x1b[2J"),
        (
            ModuleNotFoundError("no", name="sklearn"),
            "this needs scikit-learn, which is not installed: pip install scikit-learn",
        ),
    ],
)
def test_an_error_of_the_user_ends_the_command_with_one_line(
    error: Exception, message: str, capsys: pytest.CaptureFixture
) -> None:
    assert ended(raising(error)) == f"elmo-tasks raising: {message}"
    assert capsys.readouterr().err == ""

    assert ended(raising(error), "--debug") == f"elmo-tasks raising: {message}"
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SigTermReceived])
def test_an_interrupt_says_how_to_go_on(
    interrupt: type[BaseException], capsys: pytest.CaptureFixture
) -> None:
    command = raising(interrupt())

    assert ended(command) == 130
    assert capsys.readouterr().err == "elmo-tasks raising: interrupted\n"

    command.GOES_ON = "type it again"
    assert ended(command) == 130
    assert capsys.readouterr().err == "elmo-tasks raising: interrupted; type it again\n"


def test_an_error_of_the_code_is_raised_with_its_traceback() -> None:
    args = parse(raising(KeyError("bug")))

    with pytest.raises(KeyError):
        args.func(args)


def test_paragraphs_of_the_help_are_wrapped_and_examples_are_not() -> None:
    parser = argparse.ArgumentParser()
    text = add_command(parser.add_subparsers(), "raising", raising(OSError())).format_help()

    assert "\nOne paragraph.\n" in text and "\n  raising   now\n" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_its_line_and_has_examples(name: str) -> None:
    parser = argparse.ArgumentParser("elmo-tasks")
    text = add_command(parser.add_subparsers(), name, load(name)).format_help()

    documented = load(name).__doc__ or ""
    first, blank = documented.split("\n")[1:3]
    assert first.endswith(".") and not blank
    assert re.search(rf"\nexamples?:\n  (echo .* \| )?elmo-tasks {name}\b", text)
    # Examples fit a terminal of 80 columns.
    assert all(len(line) <= 80 for line in documented.partition("\nexample")[2].split("\n"))


def test_an_archive_may_name_the_classes_of_a_package_that_the_user_includes() -> None:
    args = parse(raising(ValueError()))
    args.include_package = ["tests.helpers.stop_callback"]

    named: set[str] = set()

    with patch.object(check_config, "named_packages", named), pytest.raises(SystemExit):
        args.func(args)

    assert named == {"tests"}

import json
import sys
from typing import Any
from unittest.mock import patch

import pytest
from allennlp.commands import main

from elmo_tasks.commands.command import load
from elmo_tasks.console import make_parser


def allennlp(*args: object) -> None:
    """Runs `allennlp` with these arguments, in this process."""
    command = patch.object(sys, "argv", ["allennlp", *map(str, args)])
    # This plugin is imported already, and looking for plugins takes a second each time.
    with command, patch("allennlp.commands.import_plugins"):
        main(prog="allennlp")


def our_command(*args: object) -> None:
    """Runs `elmo-tasks` with these arguments, in this process. An error is raised as it is."""
    name, *others = map(str, args)
    with patch.object(sys, "argv", ["elmo-tasks", name, *others]):
        load(name).run(make_parser(name).parse_args([name, *others]))


def exit_status(*args: object) -> int | str | None:
    """Runs `allennlp` as above, and returns the argument of `sys.exit`, which must be called."""
    with pytest.raises(SystemExit) as ended:
        allennlp(*args)
    return ended.value.code


def refusal(*args: object) -> str:
    """Returns the error that `allennlp` ends with, which begins with the name of the command."""
    message = exit_status(*args)
    assert isinstance(message, str) and message.startswith("allennlp ")
    return message.removeprefix("allennlp ")


def printed_numbers(capsys: pytest.CaptureFixture, *args: object) -> dict[str, Any]:
    """Returns the numbers that a command prints with `--json -`."""
    capsys.readouterr()
    allennlp(*args, "--json", "-")
    return json.loads(capsys.readouterr().out)

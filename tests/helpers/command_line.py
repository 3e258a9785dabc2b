import json
import sys
from typing import Any

import pytest
from allennlp.commands import main


def allennlp(monkeypatch: pytest.MonkeyPatch, *args: object) -> None:
    """Runs `allennlp` with these arguments, in this process."""
    # This plugin is imported already, and looking for plugins takes a second each time.
    monkeypatch.setattr("allennlp.commands.import_plugins", lambda: None)
    monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, args)])
    main(prog="allennlp")


def exit_status(monkeypatch: pytest.MonkeyPatch, *args: object) -> int | str | None:
    """Runs `allennlp` as above, and returns the argument of `sys.exit`, which must be called."""
    with pytest.raises(SystemExit) as ended:
        allennlp(monkeypatch, *args)
    return ended.value.code


def refusal(monkeypatch: pytest.MonkeyPatch, *args: object) -> str:
    """Returns the error that `allennlp` ends with, which begins with the name of the command."""
    message = exit_status(monkeypatch, *args)
    assert isinstance(message, str) and message.startswith("allennlp ")
    return message.removeprefix("allennlp ")


def printed_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, *args: object
) -> dict[str, Any]:
    """Returns the numbers that a command prints with `--json -`."""
    capsys.readouterr()
    allennlp(monkeypatch, *args, "--json", "-")
    return json.loads(capsys.readouterr().out)

"""Runs the commands of AllenNLP and of this plugin in the process of the tests."""

import sys

import pytest
from allennlp.commands import main


def allennlp(monkeypatch: pytest.MonkeyPatch, *args: object) -> None:
    """Runs `allennlp` with these arguments in this process."""
    # The search for plugins takes a second, and conftest.py has imported this one.
    monkeypatch.setattr("allennlp.commands.import_plugins", lambda: None)
    monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, args)])
    main(prog="allennlp")

import sys

import pytest
from allennlp.commands import main


def allennlp(monkeypatch: pytest.MonkeyPatch, *args: object) -> None:
    """Runs `allennlp` with these arguments, in this process."""
    # This plugin is imported already; to look for plugins takes a second each time.
    monkeypatch.setattr("allennlp.commands.import_plugins", lambda: None)
    monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, args)])
    main(prog="allennlp")

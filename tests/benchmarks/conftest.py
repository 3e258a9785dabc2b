import sys
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs the `main` of a benchmark with arguments, and returns what it prints."""

    def run(main: Callable[[], Any], *arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["benchmark", *map(str, arguments)])
        capsys.readouterr()
        main()
        return capsys.readouterr().out

    return run

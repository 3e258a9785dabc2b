import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import store


def test_a_store_is_measured_at_each_number_of_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.setattr(store, "in_a_process", lambda function, *arguments: function(*arguments))
    folder = str(tmp_path / "store")
    options = ["--entries", "150", "40", "--tokens", "2", "--look-ups", "10", "--folder", folder]

    out = printed(store.main, *options, "--cold")

    assert "entries of 2,560 bytes, cold" in out
    rows = [line.split(" | ") for line in out.splitlines() if line.startswith(("| 40", "| 150"))]
    assert [row[0] for row in rows] == ["| 40", "| 150"]
    assert all(row[3].endswith(" ms") and "µs" in row[4] for row in rows)
    assert not Path(folder).exists()


def test_a_folder_that_exists_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(sys, "argv", ["store.py", "--folder", str(tmp_path)])

    with pytest.raises(SystemExit):
        store.main()

    assert f"{tmp_path} exists; delete it first" in capsys.readouterr().err

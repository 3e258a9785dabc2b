from pathlib import Path

import pytest

from elmo_tasks.commands.setup import Setup


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "elmo_tasks\n"),
        ("another\n", "another\nelmo_tasks\n"),
        ("another", "another\nelmo_tasks\n"),
        ("elmo_tasks\nanother\n", "elmo_tasks\nanother\n"),
    ],
)
def test_the_line_is_written_once(
    before: str | None,
    after: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    plugins = tmp_path / ".allennlp" / "plugins"
    if before is not None:
        plugins.parent.mkdir()
        plugins.write_text(before)
    args = Setup().parser("elmo-tasks setup").parse_args([])

    for _ in range(2):
        args.func(args)

    assert plugins.read_text() == after
    assert [path.name for path in plugins.parent.iterdir()] == ["plugins"]
    *_, last = capsys.readouterr().out.splitlines()
    assert last == f"{plugins} has the line elmo_tasks already; nothing was changed."

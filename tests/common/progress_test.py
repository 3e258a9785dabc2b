import os
import sys
from pathlib import Path

import pytest

from elmo_tasks.common import progress
from elmo_tasks.common.progress import prepare_bars, working
from tests.helpers.terminal import Seen, in_terminal, rows_of

ROOT = Path(__file__).parents[2]
BILM = ROOT / "fixtures" / "bilm"

# Several commands in one process, since its start takes most of the time.
SCRIPT = """
import sys, time
from elmo_tasks import console
for line in open("commands").read().splitlines():
    sys.argv = ["elmo-tasks", *line.split()]
    print("@@@", sys.argv[1], flush=True)
    try:
        console.main()
    except SystemExit as end:
        print(end.code or "")
"""
COMMANDS = """
train mine.jsonnet -s run
evaluate run sst.txt --batch-size 1
predict run words.txt --output answers.txt
""".strip()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What a terminal of 80 columns shows of a training, an evaluation and a prediction."""
    folder = tmp_path_factory.mktemp("project")
    sst = (ROOT / "fixtures" / "sst.txt").read_text(encoding="utf-8")
    # A bar shows metrics after a tenth of a second.
    (folder / "sst.txt").write_text(sst * 10, encoding="utf-8")
    (folder / "words.txt").write_text("A warm film .\n" * 100)
    (folder / "mine.jsonnet").write_text(
        "(import 'elmo_tasks/sst.libsonnet') { elmo_at: ['input'], hidden_dim: 4, num_epochs: 3,\n"
        f"  bilm: {{ options: import '{BILM}/options.json',\n"
        f"    pretrained_file: '{BILM}/weights.hdf5', dtype: 'float32' }},\n"
        "  train_data_path: 'sst.txt', validation_data_path: 'sst.txt' }\n"
    )
    (folder / "commands").write_text(COMMANDS)
    return in_terminal([sys.executable, "-c", SCRIPT], folder)


def of_command(seen: Seen, name: str) -> list[str]:
    """Returns the rows that a command left."""
    text = "\n".join(seen.rows)
    return text.partition(f"@@@ {name}\n")[2].partition("@@@")[0].splitlines()


def test_an_epoch_leaves_one_row_on_a_terminal_of_80_columns(seen: Seen) -> None:
    rows = of_command(seen, "train")

    epochs = [row for row in rows if row.startswith("epoch ")]
    assert [row[:12] for row in epochs] == [f"epoch {number} of 3" for number in (1, 2, 3)]
    first, last = rows.index(epochs[0]), rows.index(epochs[-1])
    assert rows[first : last + 1] == epochs
    assert not [row for row in rows if "it/s]" in row or "?, " in row], rows
    assert all("; accuracy " in row and len(row) < 80 for row in epochs)


@pytest.mark.parametrize(
    ("command", "bar"),
    [
        ("train", "loading instances"),
        ("train", r"] accuracy: "),
        ("evaluate", "] accuracy: "),
        ("evaluate", "/100 ["),
        ("predict", "] answers"),
    ],
)
def test_each_command_shows_how_far_it_is(command: str, bar: str, seen: Seen) -> None:
    output = seen.output.partition(f"@@@ {command}")[2].partition("@@@")[0]

    assert bar in output
    assert not [row for row in of_command(seen, command) if bar in row]


def defaults(monkeypatch: pytest.MonkeyPatch, as_lines: bool = False) -> dict[str, str]:
    monkeypatch.setattr(os, "environ", {"TQDM_ASCII": "1"})
    prepare_bars(as_lines)
    return os.environ.copy()


@pytest.mark.parametrize(("columns", "width"), [(100, "99"), (0, "79")])
def test_bars_fit_a_terminal_whose_width_may_be_unknown(
    columns: int, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((columns, 24)))

    assert defaults(monkeypatch)["TQDM_NCOLS"] == width
    lines = {"TQDM_ASCII": "1", "TQDM_NCOLS": width, "TQDM_DELAY": "2"}
    assert defaults(monkeypatch, as_lines=True) == lines


def test_outside_of_a_terminal_there_are_no_bars_unless_as_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert defaults(monkeypatch) == {"TQDM_ASCII": "1", "TQDM_DISABLE": "1"}
    assert defaults(monkeypatch, as_lines=True) == {"TQDM_ASCII": "1", "TQDM_DELAY": "2"}


def test_a_screen_is_read_as_a_terminal_shows_it() -> None:
    assert rows_of("abc\rx\r\nlonger than six\r\n", 6) == ["xbc", "longer", " than", "six"]
    assert rows_of("one\r\ntwo\x1b[A\r   \r\n", 80) == ["two"]


def test_what_takes_a_second_is_shown_with_its_time_and_vanishes(tmp_path: Path) -> None:
    work = (
        "import time\nfrom elmo_tasks.common import progress\nprogress._INTERVAL = 0.05\n"
        "with progress.working('opening a model'):\n    time.sleep(0.3)\n"
    )

    seen = in_terminal([sys.executable, "-c", work], ROOT)

    assert "opening a model [00:0" in seen.output and seen.rows == []


def test_nothing_is_shown_outside_of_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(progress, "_INTERVAL", 0.0)

    with working("opening a model"):
        pass

    assert capsys.readouterr() == ("", "")

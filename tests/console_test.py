"""Tests the script `elmo-tasks`, in processes of its own where what it imports matters."""

import io
import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from elmo_tasks import __version__, console
from elmo_tasks.commands.command import COMMANDS, load, summary
from elmo_tasks.common.errors import INSTALL_ALLENNLP
from tests.core_test import ALLENNLP, BLOCKED, run
from tests.helpers import processes
from tests.helpers.configs import ROOT

RUN = "from elmo_tasks.console import main\nmain()\n"
# Runs several commands, and prints the error of each and a mark.
EVERY = """
from elmo_tasks.console import main
for sys.argv[1:] in {commands}:
    try:
        main()
    except SystemExit as end:
        print(end.code or "", end="")
    print("@@@")
"""
# Packages that are not installed beside the core.
MISSING = (*ALLENNLP, "spacy")


class Ended(NamedTuple):
    status: int
    said: str


def fork(folder: Path, *arguments: str) -> Ended:
    """Runs the script in a fork of this process, in a folder; returns all that it printed."""
    with tempfile.TemporaryFile() as output:

        def work() -> None:
            os.chdir(folder)
            for number, name in ((1, "stdout"), (2, "stderr")):
                os.dup2(output.fileno(), number)
                setattr(sys, name, os.fdopen(number, "w", closefd=False))
            # What AllenNLP's script sets up in a process of its own.
            logging.basicConfig(level=logging.INFO, force=True)
            # An evaluation of an earlier test has disabled this one.
            logging.getLogger("allennlp.common.params").disabled = False
            # A training of an earlier test has left its file here.
            logging.getLogger("allennlp.common.tqdm").handlers.clear()
            pytest.MonkeyPatch().setattr("allennlp.commands.import_plugins", lambda: None)
            sys.argv = ["elmo-tasks", *arguments]
            status = 0
            try:
                console.main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
                if isinstance(end.code, str):
                    print(end.code, file=sys.stderr)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

        status = processes.run(work)
        output.seek(0)
        return Ended(status, output.read().decode())


def test_all_help_and_the_version_need_neither_torch_nor_allennlp() -> None:
    options = [("--help",), ("--version",), ("version",), *((name, "--help") for name in COMMANDS)]

    result = run(EVERY.format(commands=options), blocked=("torch", "numpy", *MISSING))

    assert result.returncode == 0, result.stderr
    all_help, version, again, *others = result.stdout.removesuffix("@@@\n").split("@@@\n")
    for name, said in zip(COMMANDS, others, strict=True):
        assert f"usage: elmo-tasks {name} " in said
        assert f"  {name:14}{summary(load(name))}" in all_help
    first = all_help.split("\n  ")[1:5]
    assert [line.split()[0] for line in first] == ["new", "train", "predict", "evaluate"]
    assert version == again == f"elmo-tasks {__version__}\n"


@pytest.mark.parametrize("arguments", [("new", "sst", "mine.jsonnet"), ("--help",), ("--version",)])
def test_a_reader_that_has_gone_is_no_mistake(arguments: tuple[str, ...], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    with open(writing, "wb") as output:
        result = subprocess.run(
            [sys.executable, "-c", RUN, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.fork
def test_sigterm_ends_child_processes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["elmo-tasks", "--version"])
    # The child would inherit a handler that an earlier test has left.
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    child.start()
    try:
        console.main()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)

    child.join(30)
    assert child.exitcode == -signal.SIGTERM


def test_answers_are_in_utf_8_in_any_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "argv", ["elmo-tasks", "--version"])

    console.main()

    assert output.encoding == "utf-8"


@pytest.mark.parametrize(
    "command",
    [("neighbors", "bank", "--corpus", "nowhere.txt"), ("train", "nowhere.txt", "-s", "none")],
)
def test_a_mistake_is_one_line_and_debug_shows_its_traceback(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    brief, long = fork(tmp_path, *command), fork(tmp_path, *command, "--debug")

    assert brief.status == long.status == 1
    assert brief.said.startswith(f"elmo-tasks {command[0]}: ") and "nowhere.txt" in brief.said
    assert brief.said.splitlines() == [brief.said.strip()] and "Traceback" in long.said


def test_a_text_is_embedded_by_the_core_and_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "text.txt").write_text("The bank .\nA bank .\n")
    blocked = ("sklearn", "_jsonnet", *MISSING)

    text, mine = (str(tmp_path / name) for name in ("text.txt", "mine.jsonnet"))
    expected = {
        ("neighbors", "bank", "--corpus", text): "this needs scikit-learn, which is not installed",
        ("new", "sst", mine): INSTALL_ALLENNLP,
        ("new", "classify", text): INSTALL_ALLENNLP,
        ("mix", "model.tar.gz"): INSTALL_ALLENNLP,
        ("train", text, "-s", "run"): INSTALL_ALLENNLP,
    }
    embed = ("embed", text, str(tmp_path / "text.hdf5"), "--bilm", "mini")

    result = run(EVERY.format(commands=[embed, *expected]), blocked=blocked)

    assert result.returncode == 0 and "Traceback" not in result.stderr, result.stderr
    said, *endings = result.stdout.removesuffix("@@@\n").split("@@@\n")
    assert said.startswith("Wrote ") and (tmp_path / "text.hdf5").exists()
    for (words, message), ended in zip(expected.items(), endings, strict=True):
        assert ended.startswith(f"elmo-tasks {words[0]}: {message}")
    assert not (tmp_path / "mine.jsonnet").exists()


# Commands that read a file.
READING = [
    *(("predict", "ner", "no.txt"), ("predict", "squad", "no.txt", "--passage", "README.md")),
    *(("evaluate", "ner", "no.txt"), ("errors", "ner", "no.txt"), ("score", "no.txt")),
    *(
        ("new", "classify", "no.txt"),
        ("embed", "no.txt", "no.hdf5"),
        ("train", "no.txt", "-s", "no"),
    ),
]


def test_a_file_that_is_not_there_is_said_before_packages_are_imported() -> None:
    result = run(EVERY.format(commands=READING), blocked=("torch", "numpy", *MISSING))

    assert result.returncode == 0 and not result.stderr, result.stderr
    for words, said in zip(
        READING, result.stdout.removesuffix("@@@\n").split("@@@\n"), strict=True
    ):
        assert said == f"elmo-tasks {words[0]}: file no.txt not found"


@pytest.mark.parametrize(
    ("name", "expected"), [("nwe", "did you mean 'new'?"), ("x", "--help lists the commands")]
)
def test_a_command_that_does_not_exist_is_refused(name: str, expected: str) -> None:
    result = run(RUN, name, blocked=("torch", *MISSING))

    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert result.stderr.startswith("elmo-tasks: there is no ") and expected in result.stderr


GOES_ON = "goes on from the last checkpoint"


@pytest.mark.parametrize(
    ("arguments", "then"),
    [
        (("embed", "README.md", "b"), "; the same command goes on from here"),
        (("train", "README.md", "-s", "b"), f"; the same command with --recover {GOES_ON}"),
        (("check", "a"), ""),
    ],
)
def test_ctrl_c_during_the_imports_is_one_line(arguments: tuple[str, ...], then: str) -> None:
    interrupted = re.sub("raise Module.*", "raise KeyboardInterrupt", BLOCKED)

    result = run(RUN, *arguments, blocked=("torch", *MISSING), block=interrupted)

    assert result.returncode == 130
    assert result.stderr == f"elmo-tasks {arguments[0]}: interrupted{then}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("predict", "sst")])
def test_ctrl_c_while_the_script_itself_is_imported_is_one_line(arguments: tuple[str, ...]) -> None:
    script = "from elmo_tasks.__main__ import main\nmain()\n"
    interrupted = re.sub("raise Module.*", "raise KeyboardInterrupt", BLOCKED)

    result = run(script, *arguments, blocked=("argparse",), block=interrupted)

    assert (result.returncode, result.stderr) == (130, "elmo-tasks: interrupted\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder without a copy of the repository, with a config of its own."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "sst.txt").write_text(
        (ROOT / "fixtures" / "sst.txt").read_text(encoding="utf-8"), encoding="utf-8"
    )
    # A small biLM, whose archive is soon packed.
    bilm = ROOT / "fixtures" / "bilm"
    (folder / "mine.jsonnet").write_text(
        "(import 'elmo_tasks/sst.libsonnet') { elmo_at: ['input'], hidden_dim: 4, num_epochs: 2,\n"
        f"  bilm: {{ options: import '{bilm}/options.json',\n"
        f"    pretrained_file: '{bilm}/weights.hdf5', dtype: 'float32' }},\n"
        "  train_data_path: 'sst.txt', validation_data_path: 'sst.txt' }\n"
    )
    return folder


def test_a_training_in_any_folder_prints_what_a_person_needs(folder: Path) -> None:
    trained = fork(folder, "train", "mine.jsonnet", "-s", "run", "-f")

    assert trained.status == 0, trained.said
    assert "epoch 1 of 2: loss " in trained.said and "; accuracy " in trained.said
    assert "epoch 2 of 2: " in trained.said
    assert "the model is in run/model.tar.gz" in trained.said
    for noise in ("INFO", "registered", "Warning", "allennlp."):
        assert noise not in trained.said
    # The log file has everything.
    assert " - INFO - allennlp.common.params - " in (folder / "run" / "out.log").read_text()


def test_an_evaluation_prints_its_metrics_and_nothing_else(folder: Path) -> None:
    archive = str(ROOT / "fixtures" / "archives" / "sst.tar.gz")

    evaluated = fork(folder, "evaluate", archive, "sst.txt")

    assert evaluated.status == 0, evaluated.said
    assert re.search(r"accuracy: 0\.\d{4}$", evaluated.said, re.MULTILINE), evaluated.said
    assert "INFO" not in evaluated.said and "archive" not in evaluated.said

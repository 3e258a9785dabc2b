"""Tests what AllenNLP's commands say where a person erred, as `allennlp` runs them in a shell."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from allennlp.commands import main
from allennlp.common import logging as allennlp_logging

from elmo_tasks.commands import excepthook
from tests.helpers import processes
from tests.helpers.configs import ROOT

ARCHIVE = ROOT / "fixtures" / "archives" / "sst.tar.gz"


class Ended(NamedTuple):
    status: int
    line: str
    traceback: bool


def command(*args: object, first: Callable[[], object] = lambda: None) -> Ended:
    """Runs `allennlp` in a fork, with the hook that a shell's command has."""
    with tempfile.TemporaryFile() as errors:

        def work() -> None:
            os.dup2(errors.fileno(), 2)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            sys.argv = ["allennlp", *map(str, args)]
            pytest.MonkeyPatch().setattr("allennlp.commands.import_plugins", lambda: None)
            # A training of an earlier test has set a hook that logs.
            sys.excepthook = sys.__excepthook__
            install()
            first()
            status = 1
            try:
                main(prog="allennlp")
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
                print("" if isinstance(end.code, int) else end.code, file=sys.stderr)
            except BaseException as error:
                try:
                    sys.excepthook(type(error), error, error.__traceback__)
                except SystemExit as end:
                    status = int(end.code or 0)
            sys.stderr.flush()
            os._exit(status)

        status = processes.run(work)
        errors.seek(0)
        said = errors.read().decode()
    lines = [line for line in said.splitlines() if line.strip()]
    return Ended(status, lines[-1] if lines else "", "Traceback" in said)


def install() -> None:
    """Installs the hook as if `main` had just imported the plugin."""
    scope = {"__name__": "allennlp.commands", "install": excepthook.install_in_command_line}
    exec("install()", scope)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def sst(folder: Path, change: str) -> Path:
    parts = [f"(import '{ROOT}/{name}')" for name in ("training_configs/sst/both.jsonnet",)]
    parts += [f"(import '{ROOT}/fixtures/tiny.libsonnet')", change]
    return write(folder / "config.jsonnet", " +\n".join(parts))


def test_a_reader_of_answers_that_has_gone_is_no_mistake(tmp_path: Path) -> None:
    inputs = write(tmp_path / "in.txt", "A film .\n")

    def close_reader() -> None:
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, 1)
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)

    ended = command("predict", ARCHIVE, inputs, first=close_reader)

    assert ended == Ended(1, "", False)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("{ model+: { droput: 0.1 } }", "no parameter 'droput'; did you mean 'dropout'?"),
        ("{ elmo_att: ['input'] }", "did you mean 'elmo_at'?"),
        ("{ bilm: 'smal' }", "config.jsonnet: bilm must be .* not smal; did you mean 'small'?"),
        ("{ model+: { type: 'elmo_bnc' } }", "did you mean 'elmo_bcn'?"),
        ("{ model+: { dropout: 'much' } }", "Expected dropout to be numeric"),
        ("{ train_data_path: 'nowhere.txt' }", "file nowhere.txt not found"),
        ("{ trainer+: { num_epoch: 1 } }", "no parameter 'num_epoch'; did you mean 'num_epochs'?"),
        ("{ 1 }", r"config.jsonnet:3:3: "),
    ],
)
def test_a_mistake_in_a_config_is_one_line_with_the_name_that_was_meant(
    change: str, expected: str, tmp_path: Path
) -> None:
    ended = command("train", sst(tmp_path, change), "-s", tmp_path / "run")

    assert ended.status == 1 and not ended.traceback
    assert ended.line.startswith("allennlp train: ")
    assert_matches(expected, ended.line)


@pytest.mark.parametrize("kind", ["elmo_word_vectors", "embedding"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "file .* not found"),
        (b"", "is empty: expected a word and its numbers on each line"),
        (gzip.compress(b"boat 0.1 0.2\n" * 9)[:-9], "is damaged: Compressed file ended before"),
        (b"boat 0.1 0.2\n", "is damaged: Not a gzipped file"),
        (gzip.compress(b"b\xff 0.1 0.2\n"), "is not in UTF-8: "),
    ],
    # A packed text has the time in it.
    ids=["missing", "empty", "cut", "unpacked", "latin"],
)
def test_word_vectors_that_cannot_be_read_are_named(
    content: bytes | None, expected: str, kind: str, tmp_path: Path
) -> None:
    file = tmp_path / "glove.6B.100d.120k.txt.gz"
    if content is not None:
        file.write_bytes(content)
    arguments = f"type: '{kind}', embedding_dim: 2, pretrained_file: '{file}'"
    config = sst(tmp_path, f"{{ word_vectors: {{ {arguments} }} }}")

    ended = command("train", config, "-s", tmp_path / "run")

    assert ended.status == 1 and not ended.traceback
    assert_matches(expected, ended.line)
    assert str(file) in ended.line
    if "UTF-8" not in expected:
        assert "; to make it: python scripts/fetch_data.py --glove 6B" in ended.line


def assert_matches(expected: str, line: str) -> None:
    position = 0
    for part in expected.split(".*"):
        position = line.find(part, position)
        assert position >= 0, f"{part!r} is not in {line!r}"


def test_a_training_that_failed_before_its_first_checkpoint_begins_again(tmp_path: Path) -> None:
    config, folder = sst(tmp_path, "{ train_data_path: 'nowhere.txt' }"), tmp_path / "run"

    first = command("train", config, "-s", folder)
    sst(tmp_path, "{ train_data_path: 'elsewhere.txt' }")
    recovered = command("train", config, "-s", folder, "--recover")
    again = command("train", config, "-s", folder)

    assert first == Ended(1, "allennlp train: file nowhere.txt not found", False)
    assert recovered.line.endswith(
        "does not match the configuration we're recovering from; no checkpoint was saved yet, so "
        f"begin again: allennlp train {config} -s {folder}"
    )
    assert again == Ended(1, "allennlp train: file elsewhere.txt not found", False)


def test_a_folder_with_other_files_is_not_to_be_forced(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("config.json", "meta.json", "notes.txt"):
        write(folder / name, "{}")

    ended = command("train", sst(tmp_path, "{}"), "-s", folder)

    assert ended.status == 1 and not ended.traceback
    assert ended.line == (
        f"allennlp train: the folder {folder} is not empty: give another folder (-s), go on with "
        "the training in it (--recover), or replace it (--force)"
    )


def test_printing_results_without_metrics_asks_for_their_names(tmp_path: Path) -> None:
    ended = command("print-results", tmp_path)

    assert ended.status == 1 and not ended.traceback
    assert "name the metrics to print, such as --keys " in ended.line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"sentence": "a"}\n\nplain text\n',
            ":3: expected one JSON object on each line, but got",
        ),
        (b'{"sentence": "a"}\n{"sentence": "\xff"}\n', ":2: not UTF-8: "),
        ('\n{"sentence": "a"}\n{"text": "a"}\n', ':3: expected {"sentence": "raw text"}'),
    ],
)
def test_input_that_cannot_be_predicted_is_named_by_its_line(
    text: str | bytes, expected: str, tmp_path: Path
) -> None:
    ended = command("predict", ARCHIVE, write(tmp_path / "inputs.jsonl", text))

    assert ended.status == 1 and not ended.traceback
    assert ended.line.startswith(f"allennlp predict: {tmp_path}/inputs.jsonl{expected}")


def test_a_command_without_a_gpu_says_how_to_use_the_cpu(tmp_path: Path) -> None:
    inputs = write(tmp_path / "inputs.txt", "A film.\n")
    config = sst(tmp_path, "{ trainer+: { cuda_device: 0 } }")

    def first() -> None:
        pytest.MonkeyPatch().setattr("torch.cuda.device_count", lambda: 0)

    predicted = command("predict", ARCHIVE, inputs, "--cuda-device", 0, first=first)
    trained = command("train", config, "-s", tmp_path / "run", first=first)

    message = "Experiment specified a GPU but none is available;"
    assert predicted.line == f"allennlp predict: {message} to use the CPU, leave out --cuda-device"
    assert f"{message} to train on the CPU, give -o '" in trained.line


def test_a_disk_that_is_full_before_the_first_checkpoint_keeps_none(tmp_path: Path) -> None:
    config, folder = sst(tmp_path, "{}"), tmp_path / "run"

    def first() -> None:
        def full_disk(*args: object) -> None:
            raise OSError(28, "No space left on device")

        pytest.MonkeyPatch().setattr("torch.save", full_disk)

    ended = command("train", config, "-s", folder, first=first)

    assert ended.line == (
        f"allennlp train: {folder}/model_state_e1_b0.th: No space left on device; make room"
    )


def test_archives_that_are_missing_or_torn_are_one_line(tmp_path: Path) -> None:
    inputs = write(tmp_path / "inputs.jsonl", '{"sentence": "a"}\n')
    torn = write(tmp_path / "torn.tar.gz", ARCHIVE.read_bytes()[:5000])

    missing = command("predict", "nowhere.tar.gz", inputs)
    damaged = command("evaluate", torn, "fixtures/sst.txt")

    assert missing == Ended(1, "allennlp predict: file nowhere.tar.gz not found", False)
    assert damaged.status == 1 and not damaged.traceback and str(torn) in damaged.line


def test_a_variable_shows_the_traceback_of_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_DEBUG", "1")

    ended = command("predict", "nowhere.tar.gz", "nowhere.jsonl")

    assert ended == Ended(1, "allennlp predict: file nowhere.tar.gz not found", True)


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*args: object) -> None:
        raise KeyError("bug")

    def first() -> None:
        monkeypatch.setattr("allennlp.commands.predict._get_predictor", bug)

    ended = command("predict", ARCHIVE, "nowhere.jsonl", first=first)

    assert ended == Ended(1, "KeyError: 'bug'", True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_an_interrupted_training_says_what_to_type(
    number: int, has_checkpoint: bool, tmp_path: Path
) -> None:
    config, folder = sst(tmp_path, "{}"), tmp_path / "run"

    def first() -> None:
        from allennlp.common.util import install_sigterm_handler

        from elmo_tasks.training.trainer import ElmoTrainer

        def interrupt(trainer: ElmoTrainer) -> None:
            if trainer._epochs_completed == has_checkpoint:
                os.kill(os.getpid(), number)

        # A shell lets its background jobs ignore SIGINT, and the tests may be one.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        install_sigterm_handler()
        pytest.MonkeyPatch().setattr(ElmoTrainer, "clip_gradient", interrupt)

    ended = command("train", config, "-s", folder, "-f", first=first)

    assert ended.status == 130 and not ended.traceback
    typed = f"allennlp train {config} -s {folder}"
    expected = (
        f"interrupted; to go on: {typed} --recover"
        if has_checkpoint
        else f"interrupted; no checkpoint was saved yet, so begin again: {typed}"
    )
    assert ended.line == f"allennlp train: {expected}"


def test_a_disk_that_fills_up_in_a_training_says_what_is_kept_and_how_to_go_on(
    tmp_path: Path,
) -> None:
    config, folder = sst(tmp_path, "{}"), tmp_path / "run"

    def first() -> None:
        import torch

        save = torch.save

        def full_disk(content: object, path: Path) -> None:
            if "model_state_e2_b0" in str(path):
                Path(path).write_bytes(b"half")
                raise OSError(28, "No space left on device")
            save(content, path)

        torch.save = full_disk

    ended = command("train", config, "-s", folder, first=first)

    assert ended.status == 1 and not ended.traceback
    assert ended.line == (
        f"allennlp train: {folder}/model_state_e2_b0.th: No space left on device; make room; the "
        f"checkpoints are kept; to go on: allennlp train {config} -s {folder} --recover"
    )
    assert {path.name for path in folder.glob("*_state_*.th")} == {
        "model_state_e1_b0.th",
        "training_state_e1_b0.th",
    }


def test_a_second_training_in_a_folder_is_told_who_has_it(tmp_path: Path) -> None:
    from elmo_tasks.common.lock import lock

    config, folder = sst(tmp_path, "{}"), tmp_path / "run"
    write(tmp_path / "kept", "")

    with lock(folder):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        ended = command("train", config, "-s", folder, "--force")

    assert ended.status == 1 and not ended.traceback
    assert f"{folder} is in use by another process" in ended.line
    assert (folder / "config.json").read_text() == "{}"


def test_control_characters_of_a_message_are_escaped(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        excepthook._hook(sys.__excepthook__, OSError, OSError("no \x1b[2J"), None)

    assert capsys.readouterr().err.endswith(": no \\x1b[2J\n")


def test_scripts_and_tests_keep_pythons_hook() -> None:
    excepthook.install_in_command_line()

    assert getattr(sys.excepthook, "func", None) is not excepthook._hook
    assert allennlp_logging.prepare_global_logging.__module__ == "allennlp.common.logging"


def test_a_shells_command_has_the_hook(tmp_path: Path) -> None:
    config = write(tmp_path / "config.json", json.dumps({"dataset_reader": {"type": "elmo_st"}}))

    result = subprocess.run(
        [sys.executable, "-m", "allennlp", "train", config, "-s", tmp_path / "run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert "did you mean 'elmo_sst'?" in result.stderr.splitlines()[-1]

"""
Tries every option of every command once.

A line of `LINES` is a command as a user types it, in a folder with the files of `made`. A new
option needs a line that has it: `test_every_option_has_a_line` compares the lines with the parsers.
"""

import argparse
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from elmo_tasks.commands.command import COMMANDS
from elmo_tasks.console import make_parser
from tests.golden.commands import TrainedHere, run
from tests.helpers.archives import task_model
from tests.helpers.configs import CONFIGS, ROOT, TINY, evaluate, tiny

# Which options a biLM is opened with.
OPENING = "--bilm bilm --dtype float32 --cuda-device -1 --threads 1"
FILES = "--options bilm/options.json --weights bilm/weights.hdf5"

# Each command with its options, and what it writes or prints: the name of a file, or a pattern.
LINES: list[tuple[str, str]] = [
    (
        "new classify texts.csv --text text --label label --separator ; --language en "
        "--dev texts.csv --debug --include-package tests.helpers.stop_callback",
        "texts.jsonnet",
    ),
    ("new classify rows.csv --no-header --text 2 --label 3", "rows.jsonnet"),
    ("new tag tags.conllu --column upos", "tags.jsonnet"),
    ("new tag tags.conllu --column xpos --no-spans --force", "tags.jsonnet"),
    (
        """train sst.json -s run --force --threads 1 -o '{"trainer.num_epochs": 1}' """
        "--file-friendly-logging --node-rank 0",
        "run/model.tar.gz",
    ),
    ("""train sst.json -s run --recover -o '{"trainer.num_epochs": 1}'""", "run/model.tar.gz"),
    ("train own.json -s folds --folds 2", "folds/model.tar.gz"),
    (
        "predict sst.tar.gz words.csv --column words --output answers.txt --force --silent "
        "--batch-size 2 "
        """-o '{"dataset_reader.granularity": "5-class"}' --cuda-device -1 --threads 1""",
        "answers.txt",
    ),
    ("predict sst.tar.gz rows.csv --no-header --column 2 --jsonl", r'\{"label": .*, "1": '),
    ("predict squad.tar.gz questions.txt --passage play.txt --top-k 2", r"\t0\.\d\d$"),
    (
        "evaluate sst.tar.gz sst.txt --output metrics.json --predictions-output-file told.jsonl "
        "--force --batch-size 8 -o '{}' --cuda-device -1 --threads 1",
        "told.jsonl",
    ),
    (f"serve mine=sst.tar.gz --host 127.0.0.1 --port 0 --language en {OPENING}", "http://127"),
    (f"serve sst.tar.gz --port 0 {FILES}", "http://127"),
    (
        f"embed words.csv all.hdf5 --column words --split --language en --all {OPENING} "
        "--processes 1",
        "all.hdf5",
    ),
    (f"embed text.txt top.hdf5 --top {FILES}", "top.hdf5"),
    ("embed text.txt mean --average --shards --force --bilm bilm", "mean"),
    ("embed text.txt mix.hdf5 --mix --place output --bilm sst.tar.gz", "mix.hdf5"),
    ("embed text.txt words.txt --words 9 --bilm bilm", "words.txt"),
    ("embed text.txt ray --top --ray local --bilm bilm", "ray"),
    (
        "score words.csv --column words --output scores.tsv --split --language en "
        "--bilm packed_lm --dtype float32 --cuda-device -1 --threads 1 --processes 1",
        "scores.tsv",
    ),
    ("score text.txt --sums --force --context 1 --bilm packed_lm", "forward_bits"),
    ("score text.txt --whole-words --bilm packed_lm", "The\t"),
    (
        "errors sst.tar.gz sst.txt --against run --top 3 --threads 1 --json errors.json -f "
        "--output mistakes.csv",
        "mistakes.csv",
    ),
    (
        "ablation sst --variants baseline --seeds 1 -s ablated --configs configs --jobs 1 --force "
        """--train-fraction 1 --set elmo_lambda=0 -o '{"trainer.num_epochs": 1}' --threads 1""",
        "ablated/results.json",
    ),
    (
        "probe probe.json -o '{}' --threads 1 --json probe_numbers.json --force",
        "probe_numbers.json",
    ),
    ("mix sst.tar.gz --json mix_numbers.json --chart mix.png --force", "mix.png"),
    (
        f"neighbors play --corpus play.txt --clusters 2 --layer 1 --top 3 --vectors near.txt "
        f"{OPENING} --json near.json --chart near.png --force",
        "near.png",
    ),
    (f"neighbors play --corpus play.txt --sentence 'They saw a play .' {FILES}", "play"),
    (
        f"neighbors play --corpus play.txt --split --language en --sentence 'a play .' {FILES}",
        "play",
    ),
    ("check bilm/options.json bilm/weights.hdf5", "sound|36,448"),
    ("export lm.tar.gz exported --dtype float16 --force", "exported/weights.hdf5"),
    ("export sst.tar.gz onnx --onnx --place input", "onnx"),
    ("pack sst packed --bilm base --max-words 9 --force", "packed"),
]

# The options that every command has. One of them is tried for all.
SHARED = {"--debug", "--include-package"}


def names_of(action: argparse.Action) -> set[str]:
    return set(action.option_strings)


def actions_of(command: str) -> list[argparse.Action]:
    """Returns the options of a command, and its arguments."""
    (commands,) = make_parser(command)._subparsers._group_actions  # type: ignore[union-attr]
    parser = commands.choices[command]  # type: ignore[index, call-overload]
    return [each for each in parser._actions if "--help" not in each.option_strings]


def words_of(line: str) -> list[str]:
    return shlex.split(line)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_line(command: str) -> None:
    lines = [words for words in map(words_of, (line for line, _ in LINES)) if words[0] == command]
    tried = {word for words in lines for word in words} | (SHARED if lines else set())

    missing = [each.option_strings for each in actions_of(command) if not names_of(each) & tried]

    assert lines, f"no line of LINES has the command {command}"
    assert [each for each in missing if each] == []


def test_every_word_of_a_line_is_known_and_the_shared_options_are_tried() -> None:
    assert all(any(name in line for line, _ in LINES) for name in SHARED)
    for line, _ in LINES:
        words = words_of(line)
        known = {name for each in actions_of(words[0]) for name in names_of(each)}
        options = {word for word in words[1:] if re.match("--?[a-z]", word)}
        assert options <= known, f"{line}: {options - known}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files that the lines name. A line may need what an earlier one wrote."""
    folder = tmp_path_factory.mktemp("every_option")
    fixtures = ROOT / "fixtures"
    for source, target in (
        (".", "fixtures"),
        ("bilm", "bilm"),
        ("archives/sst.tar.gz", "sst.tar.gz"),
        ("archives/language_model.tar.gz", "lm.tar.gz"),
        ("sst.txt", "sst.txt"),
        ("play.txt", "play.txt"),
        ("tag.conllu", "tags.conllu"),
        ("classify.csv", "texts.csv"),
    ):
        (folder / target).symlink_to(fixtures / source)
    (folder / "squad").mkdir()
    (folder / "text.txt").write_text("The boat left .\nA bank !\n")
    (folder / "words.csv").write_text("words,id\nThe boat left.,1\nA bank!,2\nIt is late.,3\n")
    header, *rows = (fixtures / "classify.csv").read_text(encoding="utf-8").splitlines(True)
    (folder / "rows.csv").write_text("".join(rows), encoding="utf-8")
    (folder / "questions.txt").write_text("Who saw a play?\n")
    archive = task_model(folder / "squad", "squad", "baseline")
    (folder / "squad.tar.gz").symlink_to(archive)
    own = "".join(f"good day {n},x\nbad night {n},y\n" for n in range(8))
    (folder / "own.csv").write_text(f"text,label\n{own}")
    (folder / "near.txt").write_text("play 1 0\ngame 1 0.1\nstage 0.9 0.2\nboat 0 1\n")
    probe = "(import 'training_configs/probe/pos.jsonnet') + { bilm: 'mini' }"
    data = ("train_data_path", "validation_data_path")
    configs: dict[str, Any] = {
        "sst.json": tiny("sst", "baseline"),
        "own.json": tiny("classify", "baseline") | dict.fromkeys(data, "own.csv"),
        "probe.json": evaluate(probe) | dict.fromkeys(data, "fixtures/ner.txt"),
    }
    for name, config in configs.items():
        (folder / name).write_text(json.dumps(config))
    (folder / "configs").mkdir()
    variant = f"(import '{CONFIGS}/sst/baseline.jsonnet') + {TINY}"
    (folder / "configs" / "baseline.jsonnet").write_text(variant)
    run("pack", folder / "lm.tar.gz", folder / "packed_lm")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line[:40] for line, _ in LINES])
def test_each_line_does_what_it_says(
    line: str, expected: str, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    # A server would not end; a cluster of Ray takes long (tests/embed/ray_engine_test.py has one).
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    monkeypatch.setattr(
        "elmo_tasks.embed.ray_engine.on_ray", lambda address, processes, *each: map(*each)
    )
    file = made / expected if re.fullmatch(r"[\w/]+(\.\w+)*", expected) else None

    if "ablation" in line:
        monkeypatch.setattr("subprocess.Popen", TrainedHere)
    printed = run(*words_of(line))

    if file is not None and "." in expected or (made / expected).exists():
        assert (made / expected).exists()
    else:
        assert re.search(expected, printed), printed

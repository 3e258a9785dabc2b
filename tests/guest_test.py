"""
Tests that the plugin is a guest in AllenNLP: a project with its own reader, model, tokenizer and
callback gets from `allennlp` what it gets without the plugin.
"""

import importlib
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import load_archive

from elmo_tasks.archives.open_archive import open_archive
from tests.helpers.configs import ROOT

PROJECT = ROOT / "fixtures" / "guest"

TEXT = "good\ta fine film\nbad\ta dull film\ngood\tfine and warm\nbad\tdull and cold\n"

CONFIG = {
    "dataset_reader": {
        "type": "own_reader",
        "tokenizer": "own_tokenizer",
        "token_indexers": {"tokens": {"type": "single_id"}},
    },
    "train_data_path": "data.tsv",
    "validation_data_path": "data.tsv",
    "model": {
        "type": "own_model",
        "embedder": {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}},
    },
    "data_loader": {"batch_size": 2, "shuffle": True},
    "trainer": {
        "num_epochs": 3,
        "optimizer": "adam",
        "callbacks": ["own_callback"],
        "validation_metric": "+accuracy",
        "cuda_device": -1,
    },
}

# The commands in order, and the environment of each.
COMMANDS: dict[str, tuple[str, dict[str, str]]] = {
    "train": ("train config.json -s run", {}),
    "again": ("train config.json -s run", {}),
    "evaluate": ("evaluate run/model.tar.gz data.tsv --output-file metrics.json", {}),
    "predict": ("predict run/model.tar.gz in.jsonl --output-file answers.jsonl", {}),
    "wrong": ("predict run/model.tar.gz wrong.jsonl", {}),
    "find_lr": ("find-lr config.json -s rates --num-batches 11", {}),
    "stopped": ("train config.json -s recovered", {"STOP": "1"}),
    "recovered": ("train config.json -s recovered --recover", {}),
    "misspelt": ("""train config.json -s x -o {"trainer.num_epohcs":1}""", {}),
    "no_name": ("train elmo_tasks:sst/both -s x", {}),
}

# The command that opens an archive of a training with the plugin.
OTHERS: dict[str, tuple[str, dict[str, str]]] = {
    "theirs": ("evaluate ../plugin/run/model.tar.gz data.tsv --output-file theirs.json", {})
}

# Runs commands of AllenNLP in folders, each folder and each command in a fork. In a folder, the
# plugins are imported first, once for all its commands, as `allennlp` imports them: those that its
# home folder names.
DRIVER = """
import gc, json, os, sys, traceback
# What is imported stays, and a fork copies all that garbage is looked for in.
gc.disable()
import allennlp.__main__
import matplotlib.pyplot
import torch
from allennlp.commands import main
from allennlp.common.plugins import import_plugins
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

for folder, commands in json.load(sys.stdin).items():
    if not os.fork():
        os.chdir(folder)
        os.environ["HOME"] = folder
        torch.set_num_threads(3)
        import_plugins()
        if os.path.exists(".allennlp"):
            from elmo_tasks import ElmoEncoder
            ElmoEncoder.from_pretrained("mini")
        scheduler = LearningRateScheduler.by_name("reduce_on_plateau")
        with open(".found", "w") as file:
            print(scheduler.__module__.split(".")[0], torch.get_num_threads(), file=file)
        torch.set_num_threads(1)
        # Looking for them once more takes most of the time of a command.
        allennlp.commands.import_plugins = lambda: None
        break
    assert os.wait()[1] == 0
else:
    commands = {}
for name, (command, environment) in commands.items():
    if not os.fork():
        for number, end in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{name}.{end}", os.O_WRONLY | os.O_CREAT), number)
        os.environ.update(environment)
        sys.argv = ["allennlp", *command.split(), "--include-package", "own_project"]
        status = 0
        try:
            main(prog="allennlp")
        except SystemExit as end:
            status = end.code
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    with open(f"{name}.status", "w") as file:
        file.write(str(os.waitstatus_to_exitcode(os.wait()[1])))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Returns the folders of AllenNLP with the plugin and of AllenNLP alone."""
    folder = tmp_path_factory.mktemp("guest")
    plugin, alone = folder / "plugin", folder / "alone"
    for each in (plugin, alone):
        each.mkdir()
        (each / "config.json").write_text(json.dumps(CONFIG))
        (each / "data.tsv").write_text(TEXT)
        (each / "in.jsonl").write_text('{"text": "a fine film"}\n{"text": "dull"}\n')
        (each / "wrong.jsonl").write_text("a fine film\n")
    (plugin / ".allennlp").mkdir()
    (plugin / ".allennlp" / "plugins").write_text("elmo_tasks\n")
    paths = [str(ROOT), str(PROJECT)]
    environment = {"PYTHONPATH": os.pathsep.join(paths)}
    # AllenNLP logs sets of names in the order of their hashes.
    environment["PYTHONHASHSEED"] = "0"
    commands = {str(plugin): COMMANDS, str(alone): {**COMMANDS, **OTHERS}}
    subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(commands).encode(),
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
    )
    return plugin, alone


def content(path: Path) -> Any:
    """Returns what a file holds, without times, memory and places."""
    if path.suffix == ".th":
        return plain(torch.load(path, weights_only=False))
    if path.suffix == ".gz":
        with tarfile.open(path) as tar:
            return sorted((each.name, each.size * each.name.endswith(".txt")) for each in tar)
    if path.suffix == ".png":
        return path.read_bytes()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return {
            name: value
            for name, value in json.loads(text).items()
            if not name.endswith(("_duration", "_MB"))
        }
    if path.suffix in (".log", ".err", ".out"):
        # Progress bars and the lines of a traceback have times and places.
        lines = text.splitlines() if path.suffix == ".out" else re.findall(r"\d,\d+ - .*", text)
        lines += text.splitlines()[-1:] if "Traceback" in text else []
        hidden = r"0x[0-9a-f]+|/\S+|\d[\d.,:e-]*"
        # The first process in a home folder makes the fonts of matplotlib, and says so. How often a
        # bar is logged depends on the time.
        skipped = ("elmo_tasks", "matplotlib.font_manager", " - tqdm - ")
        return [re.sub(hidden, "", line) for line in lines if not any(s in line for s in skipped)]
    return text


def plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [plain(child) for child in value]
    return value


def files(folder: Path) -> dict[str, Path]:
    return {
        str(path.relative_to(folder)): path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.relative_to(folder).parts[0].startswith(".")
        and "tfevents" not in path.name
        and path.suffix != ".lock"
    }


def test_each_command_says_and_writes_what_it_does_without_the_plugin(
    folders: tuple[Path, Path],
) -> None:
    plugin, alone = map(files, folders)
    alone = {name: path for name, path in alone.items() if not name.startswith("theirs.")}

    assert list(alone) == list(plugin)
    for name in alone:
        assert content(plugin[name]) == content(alone[name]), name
    statuses = {name: (folders[0] / f"{name}.status").read_text() for name in COMMANDS}
    # AllenNLP ignores a misspelt argument of the trainer, with the plugin as without it.
    failing = {"again", "wrong", "stopped", "no_name"}
    assert {name for name, status in statuses.items() if status != "0"} == failing


def test_the_plugin_is_found_from_home_and_changes_no_threads(folders: tuple[Path, Path]) -> None:
    found = [(folder / ".found").read_text().split() for folder in folders]

    assert found == [["elmo_tasks", "3"], ["allennlp", "3"]]


def test_the_final_metrics_of_a_training_are_printed_as_allennlp_prints_them(
    folders: tuple[Path, Path],
) -> None:
    metrics = json.loads((folders[0] / "run" / "metrics.json").read_text())

    _, _, printed = (folders[0] / "train.out").read_text().rpartition("Metrics: ")

    assert json.loads(printed[: printed.index("\n}") + 2]) == metrics


def test_archives_go_both_ways(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    plugin, alone = folders
    assert (alone / "theirs.status").read_text() == "0"
    assert content(alone / "theirs.json") == content(plugin / "metrics.json")

    monkeypatch.syspath_prepend(PROJECT)
    importlib.import_module("own_project")
    # The plugin is imported here, and an archive of a class that the user imported is data.
    models = load_archive(alone / "run" / "model.tar.gz"), open_archive(alone / "run")
    trained = torch.load(plugin / "run" / "best.th")
    for archive in models:
        state = archive.model.state_dict()
        assert all(state[name].equal(tensor) for name, tensor in trained.items())

"""Every command refuses an output that is an input, or one that exists without `--force`."""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from elmo_tasks import console
from elmo_tasks.commands.command import COMMANDS
from tests.golden.commands import LANGUAGE_MODEL, SST, tiny_file
from tests.helpers.configs import ROOT
from tests.helpers.reference_bilm import FIXTURE_FILES

BILM = f"--bilm {FIXTURE_FILES[0].parent}"

# Commands with a file OUT, and the inputs that OUT must not be.
FILES = {
    "score text.txt more*.txt --bilm lm --output OUT": [
        *("text.txt", "more.txt", "lm/weights.hdf5", "lm/softmax.safetensors"),
    ],
    "predict model text.txt --silent --output OUT": [
        *("text.txt", "model/model.tar.gz", "model/vocabulary/tokens.txt"),
    ],
    "predict model/model.tar.gz text.txt --output-file OUT": ["model/model.tar.gz"],
    "evaluate model gold.txt --output OUT": ["gold.txt", "model/best.th"],
    "evaluate model gold.txt,text.txt --output new.json,OUT": ["gold.txt", "text.txt"],
    "evaluate model gold.txt --predictions-output-file OUT": ["gold.txt", "model/config.json"],
    "neighbors bank --corpus text.txt --vectors v.txt --bilm lm --json OUT": [
        *("text.txt", "v.txt", "lm/options.json"),
    ],
    "neighbors bank --corpus m*.txt --options lm/options.json --weights lm/weights.hdf5 "
    "--chart OUT": ["more.txt", "lm/options.json", "lm/weights.hdf5"],
    "neighbors bank --corpus text.txt --bilm lm/weights.hdf5 --json OUT": ["lm/options.json"],
    "neighbors bank --corpus text.txt --bilm lm/model.hdf5 --json OUT": ["lm/options.json"],
    "mix model other=model2 --json OUT": ["model/config.json", "model2/best.th"],
    "mix model model2 --chart OUT": ["model2/best.th"],
    "errors model gold.txt --against b=model2 --json OUT": ["gold.txt", "model2/config.json"],
    "probe probe.jsonnet --json OUT": ["probe.jsonnet", "gold.txt", "lib.libsonnet"],
    "embed text.txt more*.txt OUT --bilm lm": ["text.txt", "more.txt", "lm/weights.hdf5"],
    "embed text.txt OUT --words 9 --bilm lm": ["text.txt", "lm/weights.hdf5"],
}

# Commands with a folder OUT, and the inputs in it, of which the folder is made.
FOLDERS = {
    "embed text.txt OUT --shards --bilm lm": ["text.txt"],
    "embed text.txt OUT --ray local --bilm lm": ["text.txt"],
    "export model OUT": ["model"],
    "export model OUT --onnx": ["model"],
    "pack model OUT": ["model", "model/model.tar.gz"],
    "pack model/model.tar.gz OUT": ["model/model.tar.gz"],
    "train train.json -s OUT": ["train.json", "gold.txt"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a folder of inputs, whose content nobody can read, the working directory."""
    monkeypatch.chdir(tmp_path)
    # A command leaves what finds the plugin.
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for folder, names in {
        ".": ["text.txt", "more.txt", "gold.txt", "v.txt"],
        "lm": ["options.json", "weights.hdf5", "model.hdf5", "softmax.safetensors"],
        "model": ["model.tar.gz", "config.json", "best.th", "vocabulary/tokens.txt"],
        "model2": ["config.json", "best.th"],
    }.items():
        for name in names:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"mine: {path}")
    Path("lib.libsonnet").write_text("{ train_data_path: 'gold.txt' }")
    Path("probe.jsonnet").write_text("import 'lib.libsonnet'")
    Path("train.json").write_text('{"train_data_path": "gold.txt", "trainer": {}, "model": {}}')
    return tmp_path


def status(command: str) -> int | str | None:
    """Runs `elmo-tasks` in this process, and returns its exit status or its error."""
    with patch.object(sys, "argv", ["elmo-tasks", *command.split()]):
        try:
            console.main()
        except SystemExit as ended:
            return ended.code
    return 0


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


# tests/common/outputs_test.py has all other names of a file.
def other_name(path: str, way: str) -> str:
    if way == "link":
        os.symlink(os.path.abspath(path), "link")
    elif way == "hard":
        os.link(path, "link")
    return {"same": path, "new": f"new/../{path}"}.get(way, "link")


@pytest.mark.parametrize("way", ["same", "new", "hard"])
@pytest.mark.parametrize("command", FILES)
def test_an_output_that_is_an_input_is_refused_and_untouched(
    command: str, way: str, folder: Path
) -> None:
    for path in FILES[command]:
        output = other_name(path, way)
        before = contents(folder)

        for force in ("", " --force"):
            error = status(command.replace("OUT", output) + force)

            assert isinstance(error, str) and "input" in error, (path, error)
            assert output in error and "\n" not in error
        assert contents(folder) == before
        Path("link").unlink(missing_ok=True)


@pytest.mark.parametrize("way", ["same", "new", "link"])
@pytest.mark.parametrize("command", FOLDERS)
def test_a_folder_that_is_or_has_an_input_is_refused_and_untouched(
    command: str, way: str, folder: Path
) -> None:
    for path in FOLDERS[command]:
        above = path if Path(path).is_dir() else os.path.dirname(path) or "."
        output = other_name(above, way)
        before = contents(folder)

        for force in ("", " --force"):
            error = status(command.replace("OUT", output) + force)

            assert isinstance(error, str) and output in error, (path, error)
            assert "input" in error or "would read" in error
        assert contents(folder) == before
        Path("link").unlink(missing_ok=True)


@pytest.mark.parametrize("output", ["data.jsonnet", "data/train.jsonl", "data/dev.jsonl"])
@pytest.mark.parametrize("dev", ["", " --dev dev.csv"])
def test_new_replaces_no_data(output: str, dev: str, folder: Path) -> None:
    Path("data").mkdir()
    for name in ("data.csv", "dev.csv"):
        Path(name).write_text("text,label\n" + "Soup .,a\nTea .,b\n" * 10)
    os.link("dev.csv" if dev else "data.csv", output)
    before = contents(folder)

    error = status(f"new classify data.csv --force{dev}")

    # With --dev, no parts are written.
    if dev and output != "data.jsonnet":
        assert error == 0
        return
    assert isinstance(error, str) and "data" in error and "input" in error
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["results.json", "both/seed1.json"])
def test_an_ablation_replaces_no_config_and_nothing_that_it_did_not_write(
    name: str, folder: Path
) -> None:
    Path("configs").mkdir()
    Path("runs/both").mkdir(parents=True)
    tiny_file(Path("configs"), "sst", "baseline").rename("configs/both.jsonnet")
    command = "ablation sst --variants both --seeds 1 --configs configs -s runs"
    os.link("configs/both.jsonnet", f"runs/{name}")
    before = contents(folder)

    for force in ("", " --force"):
        error = status(command + force)
        assert isinstance(error, str) and f"runs/{name} is an input" in error
    assert contents(folder) == before
    Path(f"runs/{name}").unlink()
    Path(f"runs/{name}").write_text("mine")

    error = status(command)

    assert isinstance(error, str) and f"runs/{name} exists" in error and "--force" in error
    assert Path(f"runs/{name}").read_text() == "mine"


def test_every_command_that_writes_has_the_same_option() -> None:
    helps = set()
    for name in COMMANDS:
        parser = console.make_parser(name)
        (commands,) = [
            action.choices
            for action in parser._actions
            if isinstance(action, argparse._SubParsersAction)
        ]
        force = commands[name]._option_string_actions.get("--force")
        assert (force is None) == (name in ("serve", "check")), name
        if force is not None and name not in ("train", "ablation"):
            helps.add(force.help)
            assert force.option_strings == ["--force", "-f"]
    assert helps == {"replace an output that exists"}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "lm"
    assert status(f"pack {ROOT / LANGUAGE_MODEL} {folder}") == 0
    return folder


# Commands with an output OUT that exists; the others are in the tests of train, new and ablation.
REPLACED = [
    "score text.txt --sums --bilm PACKED --output OUT",
    "predict SST text.txt --silent --output OUT",
    "evaluate SST trees.txt --output OUT",
    "evaluate SST trees.txt --predictions-output-file OUT",
    f"neighbors bank --corpus text.txt --json OUT {BILM}",
    f"neighbors bank --corpus text.txt --chart OUT {BILM}",
    "mix SST --json OUT",
    "mix SST --chart OUT",
    "errors SST trees.txt --json OUT",
    "probe pos.json --json OUT",
    f"embed text.txt OUT {BILM}",
    f"embed text.txt OUT --words 3 {BILM}",
    "new sst OUT.jsonnet",
]


@pytest.mark.parametrize("command", REPLACED)
def test_an_output_that_exists_is_replaced_only_with_force(
    command: str, packed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    Path("text.txt").write_text("The boat left the bank .\nThe bank lends .\nA bank .\n" * 2)
    Path("trees.txt").symlink_to(ROOT / "fixtures" / "sst.txt")
    if command.startswith("probe"):
        monkeypatch.chdir(ROOT)
        config = Path(packed.parent, "pos.json")
        _write_probe(config)
        command = command.replace("pos.json", str(config))
    output = packed.parent / f"out{'.jsonnet' * ('.jsonnet' in command)}"
    output.write_text("mine")
    command = command.replace("OUT.jsonnet", str(output)).replace("OUT", str(output))
    command = command.replace("SST", str(ROOT / SST)).replace("PACKED", str(packed))

    error = status(command)

    assert isinstance(error, str) and f"{output} exists" in error and "--force" in error
    assert output.read_text() == "mine"
    assert status(f"{command} --force") == 0, capsys.readouterr().err[-2000:]
    assert output.read_bytes() != b"mine"
    # What was written there once exists as well.
    assert isinstance(status(command), str)


def _write_probe(path: Path) -> None:
    from tests.helpers.configs import FIXTURE_BILM, evaluate

    data = "train_data_path: 'fixtures/ner.txt', validation_data_path: 'fixtures/ner.txt'"
    config = f"(import 'training_configs/probe/pos.jsonnet') + {{ bilm: {FIXTURE_BILM}, {data} }}"
    path.write_text(json.dumps(evaluate(config)))


@pytest.mark.parametrize("name", ["options.json", "weights.hdf5", "mix.json", "bilm.onnx"])
def test_a_folder_of_export_is_replaced_only_with_force_and_keeps_no_mix(name: str) -> None:
    Path("out").mkdir()
    Path("out", name).write_text("mine")
    Path("out", "README.md").write_text("mine")
    command = f"export {ROOT / LANGUAGE_MODEL} out{' --onnx' * (name == 'bilm.onnx')}"
    before = contents(Path("out"))

    error = status(command)

    assert isinstance(error, str) and f"out/{name} exists" in error
    assert contents(Path("out")) == before
    assert status(f"{command} --force") == 0
    assert Path("out", "README.md").read_text() == "mine"
    written = "options.json" if name == "mix.json" else name
    assert Path("out", written).stat().st_size > 9 and not Path("out/mix.json").exists()


def test_a_packed_model_is_replaced_only_with_force(packed: Path, folder: Path) -> None:
    shutil.copytree(packed, "out")
    Path("out/README.md").write_text("mine")
    command = f"pack {ROOT / SST} out"

    error = status(command)

    assert isinstance(error, str) and "out has files" in error and "--force" in error
    assert status(f"{command} --force") == 0
    assert Path("out/README.md").read_text() == "mine"
    assert not Path("out/softmax.safetensors").exists() and not Path("out/options.json").exists()
    assert {path.name for path in Path("out").iterdir()} == {
        *("README.md", "config.json", "weights.safetensors", "vocabulary"),
    }
    # Neither the folder of a training nor any other config is a packed model.
    before = contents(folder)
    for other in ("model", "model2"):
        error = status(f"pack {ROOT / SST} {other} --force")
        assert isinstance(error, str) and "is not a packed model, so it is not replaced" in error
    assert contents(folder) == before

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.commands.in_allennlp.training_folder import (
    check_data,
    check_folder,
    remove_training,
)
from tests.helpers.command_line import our_command
from tests.helpers.configs import tiny

ROOT = Path(__file__).parents[3]
CONFIG = '{"model": {}, "trainer": {}}'

# What AllenNLP and this package write: a task model, a biLM, folds, several processes, and what a
# killed training leaves.
WRITTEN = [
    *("config.json", "meta.json", "metrics.json", "metrics_epoch_0.json", "metrics_epoch_12.json"),
    *("best.th", "model.tar.gz", "out.log", "out_worker1.log", "weights.th"),
    *("model_state_e2_b0.th", "training_state_e10_b7.th", "model_state_e0_b0_w1.th"),
    *("vocabulary/tokens.txt", "vocabulary/.lock", "vocabulary/non_padded_namespaces.txt"),
    *("vocabulary/.counts.json", "log/train/events.out.tfevents.1.x", "wandb/run-1/files/a.json"),
    *("options.json", "weights.hdf5", "bilm.libsonnet", "vocab.txt"),
    *("folds/1.json", "folds/2/config.json", "folds/2/vocabulary/labels.txt"),
    *("folds/2.data/train.jsonl", "folds/2.data/test.conllu", ".best.th.a1b2c3_d"),
]


def fill(folder: Path, names: list[str]) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONFIG if name == "config.json" else "mine")


def test_what_a_training_wrote_is_removed_and_a_link_is_not_followed(tmp_path: Path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    fill(run, WRITTEN)
    fill(elsewhere, ["tokens.txt"])
    shutil.rmtree(run / "vocabulary")
    (run / "vocabulary").mkdir()
    (run / "vocabulary" / "tokens.txt").symlink_to(elsewhere / "tokens.txt")
    (tmp_path / "link").symlink_to(run)

    check_folder(tmp_path / "link", ["base", "a.txt"], force=True)
    remove_training(tmp_path / "link")

    assert os.listdir(run) == [] and (tmp_path / "link").is_symlink()
    assert (elsewhere / "tokens.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "other",
    [
        *("notes.md", "dev.json", "vocabulary/deep/a.txt", "log/mine.txt", "folds/a.json"),
        *("x/folds/1/config.json", "weights.safetensors", "layers.sqlite", "sub/config.json"),
    ],
)
def test_a_folder_with_other_files_is_never_removed(other: str, tmp_path: Path) -> None:
    fill(tmp_path / "run", [*WRITTEN, other])

    with pytest.raises(
        ValueError, match=f"run has {other}, which no training run writes, so --force"
    ):
        check_folder(tmp_path / "run", [], force=True)


@pytest.mark.parametrize("config", [None, "{}", "[]", "not JSON", '{"embedding": "all"}'])
def test_a_folder_without_the_config_of_a_training_is_never_removed(
    config: str | None, tmp_path: Path
) -> None:
    fill(tmp_path, ["options.json", "weights.hdf5"])
    if config is not None:
        (tmp_path / "config.json").write_text(config)

    with pytest.raises(
        ValueError, match="is not of a training run, so --force does not replace it"
    ):
        check_folder(tmp_path, [], force=True)


def test_a_link_to_a_folder_is_a_file_of_no_training(tmp_path: Path) -> None:
    fill(tmp_path / "run", ["config.json"])
    (tmp_path / "run" / "vocabulary").symlink_to(tmp_path)

    with pytest.raises(ValueError, match="run has vocabulary"):
        check_folder(tmp_path / "run", [], force=True)


@pytest.fixture()
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a folder with a training, runs/mine, the only one in the working directory."""
    monkeypatch.chdir(tmp_path)
    fill(Path("runs/mine"), WRITTEN)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


# A field of the config, and what it names of the training.
READ: dict[str, Any] = {
    "model.type from_archive": {"type": "from_archive", "archive_file": "runs/mine/model.tar.gz"},
    "the folder": {"bilm": "runs/../runs/mine"},
    "a file at the end of a link": {"bilm": {"pretrained_file": "link/weights.hdf5"}},
    "a hard link": {"pretrained_file": "hard.th"},
    "a vocabulary": {"vocabulary": {"type": "from_files", "directory": "runs/mine/vocabulary"}},
    "one of several": {"validation_data_path": "a.txt,runs/mine/vocab.txt"},
    "a pattern": {"train_data_path": "runs/*/vocab*.txt"},
    "a file of an archive": {"pretrained_file": "(runs/mine/model.tar.gz)#weights.th"},
    "an address": {"train_data_path": "file://{here}/runs/mine/vocab.txt"},
}


@pytest.mark.parametrize("kind", READ)
def test_nothing_that_the_config_reads_is_removed(kind: str, run: Path) -> None:
    os.symlink("runs/mine", "link")
    os.link("runs/mine/best.th", "hard.th")
    config = {"model": READ[kind], "trainer": {}}
    Path("cont.jsonnet").write_text(json.dumps(config).replace("{here}", str(run)))
    before = contents(run)

    for options in (["--force"], []):
        with pytest.raises(ValueError, match="the training would read"):
            our_command("train", "cont.jsonnet", "-s", "runs/mine", *options)

    assert contents(run) == before


@pytest.mark.parametrize("imported", ["options.json", "bilm.libsonnet", "config.json"])
def test_no_imported_file_is_removed(imported: str, run: Path) -> None:
    Path("runs/mine", imported).write_text('{ "model": {}, "trainer": {} }')
    Path("lib.libsonnet").write_text(f"{{ model: import 'runs/mine/{imported}', trainer: {{}} }}")
    Path("cont.jsonnet").write_text("import 'lib.libsonnet'")
    before = contents(run)

    with pytest.raises(ValueError, match=f"would read one of them, .*{imported}: choose"):
        our_command("train", "cont.jsonnet", "-s", "runs/mine", "--force")
    with pytest.raises(ValueError):
        our_command("train", "runs/mine/config.json", "-s", "runs/mine", "--force")

    assert contents(run) == before


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_nothing_is_removed_if_there_are_no_data(part: str, run: Path) -> None:
    config = tiny("imdb", "elmo", "{ trainer+: { num_epochs: 1 } }")
    text = json.dumps({**config, f"{part}_data_path": "gone.tsv"})
    Path("mine.json").write_text(text.replace('"fixtures/', f'"{ROOT}/fixtures/'))
    before = contents(run)

    with pytest.raises(ValueError, match=f"{part}_data_path: file gone.tsv not found"):
        our_command("train", "mine.json", "-s", "runs/mine", "--force")

    assert contents(run) == before


@pytest.mark.parametrize(
    "path", ["s3://a/b.txt", "a/*.txt", "a.zip!b.txt", "(a.zip)#b.txt", "a.txt,b.txt", ["a"], None]
)
def test_what_only_a_reader_can_find_is_left_to_it(path: Any, run: Path) -> None:
    check_data({"train_data_path": path, "dataset_reader": {"type": "elmo_sst"}})
    check_data({"train_data_path": "squad", "dataset_reader": {"type": "mine"}})
    with pytest.raises(ValueError, match="squad"):
        check_data({"train_data_path": "squad", "dataset_reader": "elmo_sst"})


def test_a_training_is_replaced_with_force_alone(run: Path) -> None:
    config = tiny("imdb", "elmo", "{ trainer+: { num_epochs: 1 } }")
    text = json.dumps(config).replace('"fixtures/', f'"{ROOT}/fixtures/')
    Path("mine.json").write_text(text)
    Path("mine.txt").write_text("mine")
    before = contents(run)

    with pytest.raises(ValueError, match="has files: --recover goes on .* --force replaces it"):
        our_command("train", "mine.json", "-s", "runs/mine")
    with pytest.raises(ValueError, match="mine.txt is a file: choose a folder"):
        our_command("train", "mine.json", "-s", "mine.txt", "--force")
    assert contents(run) == before
    our_command("train", "mine.json", "-s", "runs/mine", "--force")

    assert Path("runs/mine/model.tar.gz").stat().st_size > 99
    assert not Path("runs/mine/folds").exists() and not Path("runs/mine/bilm.libsonnet").exists()
    # What this training wrote is replaced as well.
    our_command("train", "mine.json", "-s", "runs/mine", "--force")
    assert Path("mine.txt").read_text() == "mine"

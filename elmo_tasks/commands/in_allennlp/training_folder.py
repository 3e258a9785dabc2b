"""
Knows the names of the files that a training run writes to its folder. `--force` removes only files
with these names.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.outputs import inputs_in
from elmo_tasks.common.text import listed
from elmo_tasks.common.vector_files import check_vectors

# The paths in the folder: of AllenNLP's training runs, then of a biLM's and of folds; at last,
# files that a killed training run left unfinished, and files that macOS adds.
_WRITTEN = re.compile(
    r"(config|meta|metrics|metrics_epoch_\d+)\.json|model\.tar\.gz|out(_worker\d+)?\.log|"
    r"(best|best_w\d+|weights|(model|training)_state_e\d+_b\d+(_w\d+)?)\.th|"
    r"vocabulary/([^/]+\.txt|\.lock|\.counts\.json)|"
    r"log/(train|validation)/events\.out\.tfevents\.[^/]+|wandb/.+|"
    r"options\.json|weights\.hdf5|vocab\.txt|bilm\.libsonnet|"
    r"folds/\d+\.json|folds/\d+\.data/(train|validation|test)(\.\w+)?|"
    r"(.+/)?(\.[^/]+\.\w{8}|\.DS_Store)"
)
_FOLD = re.compile(r"^folds/\d+/")


def check_folder(folder: str | os.PathLike, inputs: Iterable[str], force: bool) -> None:
    """
    Raises `ConfigurationError` if a new training run must not write to a folder. This is so if the
    folder is a file, if it has files and `force` is not given, if it has an input of the training
    run, or if it has files that no training run writes.
    """
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise ConfigurationError(f"{folder} is a file: choose a folder")
    paths = _files(folder)
    if not paths:
        return
    if sources := inputs_in(folder, inputs):
        raise ConfigurationError(
            f"{folder} has files, and the training would read one of them, {sources[0]}: choose "
            "another folder"
        )
    if not force:
        raise ConfigurationError(
            f"{folder} has files: --recover goes on with the training there, --force replaces it; "
            "or choose another folder"
        )
    foreign = [name for name in paths if not _WRITTEN.fullmatch(_FOLD.sub("", name))]
    if foreign or not _is_config(Path(folder, "config.json")):
        fault = (
            f"has {listed(foreign)}, which no training run writes"
            if foreign
            else "is not of a training run"
        )
        raise ConfigurationError(
            f"{folder} {fault}, so --force does not replace it: choose another folder, or move the "
            "files away"
        )


def check_data(config: dict[str, Any]) -> None:
    """
    Raises an error if a file of data or of vectors that a config names is missing. This function is
    called before an old training run is removed. It does not check addresses, patterns, files in
    archives, and the data of a reader from elsewhere.
    """
    for part in ("train", "validation", "test"):
        path, reader = config.get(f"{part}_data_path"), config.get("dataset_reader")
        if part != "train":
            reader = config.get("validation_dataset_reader") or reader
        name = reader.get("type") if isinstance(reader, dict) else reader
        if not isinstance(path, str) or not str(name).startswith("elmo_"):
            continue
        is_local = "://" not in path and not re.search(r"[*?\[!#,]", path)
        if is_local and not os.path.exists(os.path.expanduser(path)):
            raise ConfigurationError(f"{part}_data_path: file {path} not found")
    for path in _vectors(config):
        check_vectors(path)


def _vectors(config: Any) -> Iterator[str]:
    """Yields the files of word vectors that a config names."""
    if isinstance(config, list):
        config = dict(enumerate(config))
    if not isinstance(config, dict):
        return
    files = config.get("pretrained_files")
    for path in files.values() if isinstance(files, dict) else ():
        if isinstance(path, str):
            yield path
    kind, path = config.get("type"), config.get("pretrained_file")
    if kind in ("embedding", "elmo_word_vectors", "elmo_vector_start") and isinstance(path, str):
        yield path
    for child in config.values():
        yield from _vectors(child)


def remove_training(folder: str | os.PathLike) -> None:
    """Removes the files that a training run wrote to a folder. Call `check_folder` first."""
    for name in _files(folder):
        Path(folder, name).unlink()
    for parent, _, _ in os.walk(os.fspath(folder), topdown=False):
        if parent != os.fspath(folder):
            os.rmdir(parent)


def _files(folder: str | os.PathLike) -> list[str]:
    """
    Returns the sorted paths of all files in a folder. A link counts as a file, even if it leads to
    a folder.
    """
    names = []
    for parent, folders, files in os.walk(os.fspath(folder)):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        names += [os.path.relpath(os.path.join(parent, name), folder) for name in links + files]
    return sorted(name.replace(os.sep, "/") for name in names)


def _is_config(path: Path) -> bool:
    try:
        config: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and not config.keys().isdisjoint({"model", "trainer", "type"})

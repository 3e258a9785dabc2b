"""Fetches and unpacks the files of a biLM, and chooses them in a folder."""

import atexit
import functools
import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import hub_folder, is_hub_name, local_path
from elmo_tasks.common.file_names import (
    CONFIG_FILE,
    OPTIONS_FILE,
    OTHER_FILES,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    WEIGHTS_FILES,
)
from elmo_tasks.common.files import file_stamp
from elmo_tasks.common.text import parse_json
from elmo_tasks.common.unpacking import unpacked

# The addresses of modules of TensorFlow Hub contain this. The text is for the error message.
TENSORFLOW_HUB = "tfhub.dev/"
OF_TENSORFLOW = (
    "is a module of TensorFlow, which cannot be read; the biLM of the paper is 'original', from "
    "the files that its authors released"
)

# The folders that this process has made of zip files and addresses.
_folders = ExitStack()
atexit.register(_folders.close)


def has_folder(name: str) -> bool:
    """Returns whether an address is a folder, a repository or a zip file."""
    return os.path.isdir(name) or is_hub_name(name) or is_zip(name)


def is_zip(name: str) -> bool:
    """Returns whether this is the path or address of a zip file, by the end of its name."""
    return name.partition("?")[0].lower().endswith(".zip")


def local_file(address: str, name: str, kind: str) -> Path:
    """Returns the path of the local copy of a file. `name` and `kind` are for messages."""
    try:
        return Path(local_path(address))
    except FileNotFoundError:
        label = address if kind == "options" else name
        raise ConfigurationError(f"there is no file of {kind} {label}") from None
    except OSError as error:
        raise ConfigurationError(
            f"the {kind} {name} cannot be fetched: {error}; without a network, give a local path"
        ) from None


def local_folder(name: str) -> Path:
    """Returns the local folder of a folder, a repository or a zip file."""
    if os.path.isdir(name):
        return Path(name)
    if is_hub_name(name):
        return Path(hub_folder(name))
    path = os.path.abspath(local_file(name, name, "weights"))
    return _unzip(path, file_stamp(path))


@functools.cache
def _unzip(path: str, stamp: tuple[int, ...]) -> Path:
    """
    Unpacks a zip file, and unpacks it again if `stamp` has changed. Returns the folder
    of its files; the folder is removed when the process exits.
    """
    folder = Path(_folders.enter_context(unpacked(path)))
    # The zip file may have the files in a folder, and beside it what macOS adds.
    while len(inside := [path for path in folder.iterdir() if _is_data(path)]) == 1:
        if not inside[0].is_dir():
            break
        folder = inside[0]
    return folder


def _is_data(path: Path) -> bool:
    """Returns whether a path is not a file or folder that macOS adds, such as `.DS_Store`."""
    return not path.name.startswith(".") and path.name != "__MACOSX"


def files_in(folder: Path, name: str) -> tuple[Path, Path]:
    """Returns the options and the weights in a folder. `name` is for messages."""
    for options, weights in OTHER_FILES:
        if (folder / weights).is_file():
            return folder / options, folder / weights
    if (folder / "saved_model.pb").is_file():
        raise ConfigurationError(f"{name} {OF_TENSORFLOW}")
    files = []
    for names in ((OPTIONS_FILE,), WEIGHTS_FILES):
        paths = [path for file in names if (path := folder / file).is_file()]
        # The files of the paper's authors have longer names, such as `elmo_small_weights.hdf5`.
        matches = sorted(filter(_is_data, folder.glob(f"*{names[0]}")))
        if not paths and len(matches) != 1:
            is_model = (folder / CONFIG_FILE).is_file()
            kind = "; it has a model: elmo-tasks export writes its biLM" if is_model else ""
            raise ConfigurationError(
                f"{name} has {'several' if matches else 'no'} {names[0]}; the folder of a biLM has "
                f"{OPTIONS_FILE} and {WEIGHTS_FILE}{kind}"
            )
        files.append((paths or matches)[0])
    return files[0], files[1]


def fetched_weights(address: str, name: str, options: Path | Mapping[str, Any] | None) -> Path:
    """
    Returns the path of the local copy of weights. Weights at an address are fetched with their
    vocabulary, if the options are those of a biLM of words.
    """
    path = local_file(address, name, "weights")
    return _with_vocabulary(address, path) if "://" in address and _is_of_words(options) else path


def _is_of_words(options: Path | Mapping[str, Any] | None) -> bool:
    if isinstance(options, Path):
        try:
            options = parse_json(options.read_bytes())
        except ValueError:
            # The error is raised when the options are used.
            return False
    return isinstance(options, Mapping) and options.get("char_cnn") is None


@functools.cache
def _with_vocabulary(address: str, weights: Path) -> Path:
    """
    Fetches the vocabulary beside the weights at an address. Makes a folder with both files under
    their own names, since copies of fetched files have other names. Returns the path of the weights
    there.
    """
    beside = f"{address.rpartition('/')[0]}/{VOCABULARY_FILE}"
    try:
        vocabulary = local_path(beside)
    except OSError as error:
        raise ConfigurationError(
            f"a biLM of words needs {VOCABULARY_FILE} beside {address}: {error}"
        ) from error
    folder = Path(_folders.enter_context(tempfile.TemporaryDirectory()))
    for name, copy in ((WEIGHTS_FILE, weights), (VOCABULARY_FILE, vocabulary)):
        (folder / name).symlink_to(os.path.abspath(copy))
    return folder / WEIGHTS_FILE

"""Finds what a name, path or address stands for: the files of a biLM, or a trained model."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Union

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import hub_folder, is_hub_name
from elmo_tasks.common.file_names import (
    CONFIG_FILE,
    DATA_SUFFIXES,
    MIX_FILE,
    OPTIONS_FILE,
    OTHER_FILES,
    WEIGHTS_FILE,
    WEIGHTS_FILES,
    WEIGHTS_SUFFIXES,
)
from elmo_tasks.common.files import file_stamp
from elmo_tasks.common.package_data import BILMS, check_is_installed, pretrained_files
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.elmo.local_files import (
    OF_TENSORFLOW,
    TENSORFLOW_HUB,
    fetched_weights,
    files_in,
    has_folder,
    is_zip,
    local_file,
    local_folder,
)

# The weights of the biLMs that have a name: the addresses of those that the authors of the paper
# released, and the paths of our own.
KNOWN_BILMS = {
    **{name: fields["weights"] for name, fields in BILMS.items() if "weights" in fields},
    **pretrained_files("*/weights.hdf5"),
}

# The folders of our own trained models, by their names.
KNOWN_MODELS = {
    name: os.path.dirname(path)
    for name, path in pretrained_files(f"models/*/{CONFIG_FILE}").items()
}

# What `locate` takes: a name, path or address; or the options and the weights of a biLM.
Source = Union[str, os.PathLike, tuple[Union[str, os.PathLike], Union[str, os.PathLike]]]

# The biLM that is used by default.
DEFAULT_BILM = "base"


class Located(NamedTuple):
    """
    The biLM or trained model that a name stands for.

    # Parameters

    name: The name, path or address as it was given.
    options, weights: The local files of a biLM; empty paths for a trained model.
    is_model: Whether it is a trained model, which may have a biLM.
    """

    name: str
    options: Path = Path()
    weights: Path = Path()
    is_model: bool = False

    def beside(self, file: str) -> Path | None:
        """Returns the path of a file beside the options of a biLM, or `None` if there is none."""
        path = self.options.with_name(file) if self.options.name else self.options
        return path if path.is_file() else None

    @property
    def files(self) -> tuple[Path, Path]:
        return self.options, self.weights

    @property
    def mix(self) -> Path | None:
        """The mix that was saved with a biLM."""
        return self.beside(MIX_FILE)

    @contextmanager
    def with_name_in_errors(self) -> Iterator[None]:
        """
        Changes the errors of the block: they have the name that the user gave, not the folder of a
        local copy.
        """
        try:
            yield
        except ConfigurationError as error:
            folder, path = self.weights.parent, Path(self.name)
            if folder in (path, path.parent):
                raise
            text = str(error).replace(f"{folder}{os.sep}", f"{self.name}: ")
            raise ConfigurationError(text) from error


def locate(name: Source) -> Located:
    """
    Finds the biLM or trained model that a name stands for. Fetches files at an address, and unpacks
    zip files.

    # Parameters

    name: A trained model (see `model_path`), or a biLM (see `locate_bilm`).

    # Raises

    `ConfigurationError`: Nothing has this name, or it cannot be fetched, or a file is missing.
    """
    if not isinstance(name, tuple) and _is_model(os.path.expanduser(os.fspath(name))):
        return Located(os.fspath(name), is_model=True)
    return locate_bilm(name)


def locate_bilm(name: Source) -> Located:
    """
    Finds the options and the weights of a biLM.

    # Parameters

    name: One of:

        - a name in `KNOWN_BILMS`;
        - a folder with `options.json`, and weights named `*weights.hdf5` or `model.hdf5`;
        - a folder of ELMoForManyLangs;
        - the path or address of a zip file with one of these folders;
        - the path or address of weights that end in `weights.hdf5` or `model.hdf5`, with the
          options beside them;
        - a repository on the hub: `owner/name` or `owner/name@revision`;
        - a pair: the path or address of options, and anything that has weights.

    # Raises

    `ConfigurationError`: No biLM has this name, or it cannot be fetched, or a file is missing.
    """
    if isinstance(name, tuple):
        options_name, weights_name = (os.path.expanduser(os.fspath(part)) for part in name)
        options = local_file(options_name, options_name, "options")
        return Located(weights_name, options, locate_weights(weights_name, options))
    name = os.path.expanduser(os.fspath(name))
    # A known name is preferred to a folder of the same name.
    address = KNOWN_BILMS.get(name, name)
    end = next((end for end in WEIGHTS_FILES if address.endswith(end)), None)
    if end is not None and not os.path.isdir(address):
        # Both files are in the same folder. Their names may begin alike.
        beside = address.removesuffix(end) + OPTIONS_FILE
        if "://" not in address and not os.path.exists(beside):
            beside = os.path.join(os.path.dirname(address), OPTIONS_FILE)
        options = local_file(beside, name, "options")
        return Located(name, options, fetched_weights(address, name, options))
    _check_is_known(name)
    if not has_folder(name):
        raise ConfigurationError(
            f"there are no options for the biLM {name}: give options, the name of a biLM, or a "
            f"folder with {OPTIONS_FILE} and {WEIGHTS_FILE}"
        )
    return Located(name, *files_in(local_folder(name), name))


def locate_weights(
    name: str | os.PathLike, options: Path | Mapping[str, Any] | None = None
) -> Path:
    """
    Finds the weights of a biLM whose options are given. `name` is anything that `locate_bilm`
    takes, or the path or address of a file of any name. Weights at an address are fetched; for a
    biLM of words, their vocabulary is fetched too.
    """
    name = os.path.expanduser(os.fspath(name))
    address = KNOWN_BILMS.get(name, name)
    if has_folder(address):
        return files_in(local_folder(address), name)[1]
    _check_is_known(name)
    return fetched_weights(address, name, options)


def file_stamps(name: Source) -> tuple:
    """
    Returns the paths of the files of a biLM or model, and numbers that change when a file is
    written again. The result is part of the key of a cache. For an address or a repository there
    are no such numbers, because a process fetches its files only once.
    """
    paths: list[Path] = []
    for part in name if isinstance(name, tuple) else (name,):
        path = Path(KNOWN_BILMS.get(os.fspath(part), part)).expanduser()
        # Options, mix and words are beside the weights.
        folder = path.parent if path.suffix in WEIGHTS_SUFFIXES else path
        inside = [*folder.glob("*"), *folder.glob("vocabulary/*")]
        suffixes = (*DATA_SUFFIXES, ".json", ".txt")
        paths += [file for file in inside if file.suffix in suffixes] or [path]
    return tuple((str(path), file_stamp(path)) for path in sorted(paths))


def is_name(name: str) -> bool:
    """Returns whether this is the name of a biLM or repository, and not a path or address."""
    return name in KNOWN_BILMS or is_hub_name(name)


def _is_model(name: str) -> bool:
    """
    Returns whether a name, path, address or repository stands for a trained model. The folder of a
    language model's training run counts as a biLM, not as a model.
    """
    if name in KNOWN_BILMS:
        return False
    if os.path.isdir(name) or is_hub_name(name):
        folder = Path(name if os.path.isdir(name) else hub_folder(name))
        return (folder / CONFIG_FILE).is_file() and not _has_bilm(folder)
    if os.path.isfile(name) or any(mark in name for mark in "./"):
        return not (name.endswith(WEIGHTS_SUFFIXES) or is_zip(name) or TENSORFLOW_HUB in name)
    return name in KNOWN_MODELS


def _has_bilm(folder: Path) -> bool:
    """Returns whether a folder has the options of a biLM, or weights beside a `config.json`."""
    names = [OPTIONS_FILE, *(weights for _, weights in OTHER_FILES)]
    return any((folder / name).is_file() for name in names)


def _check_is_known(name: str) -> None:
    if TENSORFLOW_HUB in name:
        raise ConfigurationError(f"{name} {OF_TENSORFLOW}")
    is_path = os.path.exists(name) or any(mark in name for mark in "./")
    if name not in KNOWN_BILMS and not is_path:
        check_is_installed(name)
        alternatives = nearest_or_all(name, sorted(KNOWN_BILMS))
        raise ConfigurationError(f"no biLM is known as {name!r}{alternatives}")

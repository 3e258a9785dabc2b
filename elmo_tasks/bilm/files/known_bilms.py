import atexit
import functools
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Union

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import hub_folder, is_hub_name, local_path
from elmo_tasks.common.files import written
from elmo_tasks.common.package_data import check_is_installed, pretrained_files
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.common.unpacking import unpacked

_RELEASED = "https://allennlp.s3.amazonaws.com/models/elmo/{0}/elmo_{0}_weights.hdf5"

# The weights of the biLMs that have a name: those that the authors of the paper released, and
# our own. Their options are in training_configs/lib/bilms.libsonnet.
KNOWN_BILMS = {
    "small": _RELEASED.format("2x1024_128_2048cnn_1xhighway"),
    "medium": _RELEASED.format("2x2048_256_2048cnn_1xhighway"),
    "original": _RELEASED.format("2x4096_512_2048cnn_2xhighway"),
    "original-5.5B": _RELEASED.format("2x4096_512_2048cnn_2xhighway_5.5B"),
    **pretrained_files("*/weights.hdf5"),
}

# A name, path or address that `locate` takes, or the options and weights of a biLM.
Source = Union[str, os.PathLike, tuple[Union[str, os.PathLike], Union[str, os.PathLike]]]

# The biLM that is used by default.
DEFAULT_BILM = "base"

OPTIONS_FILE, WEIGHTS_FILE = "options.json", "weights.hdf5"

# A mix of the biLM's layers, which is beside the two files if it was saved with them.
MIX_FILE = "mix.json"

# The weights in a folder of bilm-tf's layout; the NLPL repository has `model.hdf5`.
_WEIGHTS = (WEIGHTS_FILE, "model.hdf5")

# The options and the weights in folders of other layouts: that of ELMoForManyLangs.
OTHER_FILES = (("config.json", "encoder.pkl"),)

# The addresses of modules of TensorFlow Hub contain this. The text is for the error message.
TENSORFLOW_HUB = "tfhub.dev/"
_OF_TENSORFLOW = (
    "is a module of TensorFlow, which cannot be read; the biLM of the paper is 'original', from "
    "the files that its authors released"
)

# The folders of the zip files that this process has unpacked.
_unpacked = ExitStack()
atexit.register(_unpacked.close)


def locate(name: str | os.PathLike) -> Path:
    """
    Returns the local path of a biLM's folder or weights. Fetches addresses and unpacks zip files.

    # Parameters

    name: One of:
        - a name in `KNOWN_BILMS`;
        - a folder with `options.json`, and weights named `*weights.hdf5` or `model.hdf5`;
        - a folder of ELMoForManyLangs;
        - the path or address of a zip file with one of these folders;
        - the path or address of weights;
        - a repository on the hub: `owner/name` or `owner/name@revision`.

    # Raises

    `ConfigurationError`: No biLM has this name, or it cannot be fetched.
    """
    name = os.path.expanduser(os.fspath(name))
    # A known name is preferred to a folder of the same name.
    place = KNOWN_BILMS.get(name, name)
    if os.path.isdir(place):
        return Path(place)
    if is_hub_name(place):
        return Path(hub_folder(place))
    _check_is_known(name)
    try:
        path = local_path(place)
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of weights {name}") from error
    except OSError as error:
        raise ConfigurationError(
            f"the weights {name} cannot be fetched ({error}); without a network, give a local path"
        ) from error
    if not is_zip(place):
        return Path(path)
    path = os.path.abspath(path)
    return _unzipped(path, written(path))


def bilm_files(name: Source) -> tuple[str, str]:
    """
    Returns the paths or addresses of a biLM's options and weights. `name` is this pair, or anything
    that `locate` takes. If it is a file of weights, its name must end in `weights.hdf5` or
    `model.hdf5`, and the options must be beside it. Raises `ConfigurationError` if no biLM has this
    name, or the folder lacks a file.
    """
    if isinstance(name, tuple):
        return os.fspath(name[0]), os.fspath(name[1])
    name = os.path.expanduser(os.fspath(name))
    weights = KNOWN_BILMS.get(name, name)
    end = next((end for end in _WEIGHTS if weights.endswith(end)), None)
    if end is not None and not os.path.isdir(weights):
        # Both files are in the same folder, and their names begin alike.
        return weights.removesuffix(end) + OPTIONS_FILE, weights
    _check_is_known(name)
    if not (os.path.isdir(name) or is_hub_name(name) or is_zip(name)):
        raise ConfigurationError(
            f"there are no options for the biLM {name}: give options, the name of a biLM, or a "
            f"folder with {OPTIONS_FILE} and {WEIGHTS_FILE}"
        )
    return _files_in(locate(name), name)


def local_weights(name: str | os.PathLike) -> str:
    """Returns the local path of the weights of anything that `locate` takes."""
    path = locate(name)
    return _files_in(path, os.fspath(name))[1] if path.is_dir() else str(path)


def has_bilm(folder: str) -> bool:
    """Returns whether a folder has the options of a biLM, or weights beside a `config.json`."""
    names = [OPTIONS_FILE, *(weights for _, weights in OTHER_FILES)]
    return any(os.path.isfile(os.path.join(folder, name)) for name in names)


def is_many_langs(folder: Path) -> bool:
    """Returns whether a folder has the weights of a biLM of ELMoForManyLangs."""
    return any((folder / weights).is_file() for _, weights in OTHER_FILES)


def is_name(name: str) -> bool:
    """Returns whether this is the name of a biLM or repository, and not a path or address."""
    return name in KNOWN_BILMS or is_hub_name(name)


def _check_is_known(name: str) -> None:
    if TENSORFLOW_HUB in name:
        raise ConfigurationError(f"{name} {_OF_TENSORFLOW}")
    is_path = os.path.exists(name) or any(mark in name for mark in "./")
    if name not in KNOWN_BILMS and not is_path:
        check_is_installed(name)
        known = nearest_or_all(name, sorted(KNOWN_BILMS))
        raise ConfigurationError(f"no biLM is known as {name!r}{known}")


def is_zip(name: str) -> bool:
    """Returns whether this is the path or address of a zip file, by the end of its name."""
    return name.partition("?")[0].lower().endswith(".zip")


@functools.cache
def _unzipped(path: str, written: tuple[int, ...]) -> Path:
    """
    Unpacks a zip file, again if it was `written` again. Returns the folder of its files, which is
    removed at exit.
    """
    folder = Path(_unpacked.enter_context(unpacked(path)))
    # The zip file may have the files in a folder, and beside it what macOS adds.
    while len(inside := [each for each in folder.iterdir() if _is_data(each)]) == 1:
        if not inside[0].is_dir():
            break
        folder = inside[0]
    return folder


def _is_data(path: Path) -> bool:
    """Returns whether a file or folder is none that macOS adds, such as `.DS_Store`."""
    return not path.name.startswith(".") and path.name != "__MACOSX"


def _files_in(folder: Path, name: str) -> tuple[str, str]:
    for options, weights in OTHER_FILES:
        if (folder / weights).is_file():
            return str(folder / options), str(folder / weights)
    if (folder / "saved_model.pb").is_file():
        raise ConfigurationError(f"{name} {_OF_TENSORFLOW}")
    files = []
    for known in ((OPTIONS_FILE,), _WEIGHTS):
        paths = [path for file in known if (path := folder / file).is_file()]
        # The files of the paper's authors have longer names, such as `elmo_small_weights.hdf5`.
        others = sorted(filter(_is_data, folder.glob(f"*{known[0]}")))
        if not paths and len(others) != 1:
            is_model = (folder / "config.json").is_file()
            kind = "; it has a model: elmo-tasks export writes its biLM" if is_model else ""
            raise ConfigurationError(
                f"{name} has {'several' if others else 'no'} {known[0]}; the folder of a biLM has "
                f"{OPTIONS_FILE} and {WEIGHTS_FILE}{kind}"
            )
        files.append(str((paths or others)[0]))
    return files[0], files[1]

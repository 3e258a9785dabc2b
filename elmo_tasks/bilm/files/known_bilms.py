import atexit
import functools
import os
import shutil
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.hub import hub_folder, is_hub_name
from elmo_tasks.common.pretrained import check_is_installed, pretrained_files
from elmo_tasks.common.spelling import did_you_mean, nearest_or_all
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

# The biLM that is used by default.
DEFAULT_BILM = "base"

OPTIONS_FILE, WEIGHTS_FILE = "options.json", "weights.hdf5"

# The name of the weights in the zip files of the NLPL repository.
_NLPL_WEIGHTS_FILE = "model.hdf5"

# The weights of a biLM of ELMoForManyLangs, beside its `config.json`.
MANY_LANGS_FILE = "encoder.pkl"


def bilm_files(name: str | os.PathLike) -> tuple[str, str]:
    """
    Returns the paths or addresses of a biLM's options and weights.

    # Parameters

    name: One of:
        - a name in `KNOWN_BILMS`;
        - a folder with `options.json`, and weights named `*weights.hdf5` or `model.hdf5`;
        - a folder of ELMoForManyLangs, or the path or address of a zip file of either folder;
        - the path or address of weights with such a name, if their options are beside them;
        - a repository on the hub: `owner/name` or `owner/name@revision`.

    # Raises

    `ConfigurationError`: No biLM has this name, or the folder lacks a file.
    """
    name = os.path.expanduser(os.fspath(name))
    _check_is_known(name)
    # A name comes before a folder of the same name.
    if name not in KNOWN_BILMS and (folder := _folder_of(name)):
        return _files_in(folder, name)
    weights = KNOWN_BILMS.get(name, name)
    end = next((end for end in (WEIGHTS_FILE, _NLPL_WEIGHTS_FILE) if weights.endswith(end)), None)
    if end is None:
        raise ConfigurationError(
            f"there are no options for the biLM {name}: give options, the name of a biLM, or a "
            f"folder with {OPTIONS_FILE} and {WEIGHTS_FILE}"
        )
    # Both files are in the same folder, and their names begin alike.
    return weights.removesuffix(end) + OPTIONS_FILE, weights


def local_weights(name: str) -> str:
    """
    Returns the local path of a file of weights, given as the name of a known biLM, a path, a
    folder, a zip file, an address or a repository on the hub. Raises `ConfigurationError` if there
    is no such file.
    """
    name = os.path.expanduser(name)
    _check_is_known(name)
    try:
        # A name comes before a folder of the same name.
        if name not in KNOWN_BILMS and (folder := _folder_of(name)):
            return _files_in(folder, name)[1]
        return local_path(KNOWN_BILMS.get(name, name))
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of weights {name}") from error
    except OSError as error:
        raise ConfigurationError(
            f"the weights {name} cannot be fetched ({error}); without a network, give a local path"
        ) from error


def is_name(name: str) -> bool:
    """Returns whether this is the name of a biLM or repository, and not a path or address."""
    return name in KNOWN_BILMS or is_hub_name(name)


def check_spelling(name: str) -> None:
    """
    Raises `ConfigurationError` if a name looks like the misspelt name of a biLM. Any other name may
    be a folder on another machine, such as the one where a pipeline was saved.
    """
    if did_you_mean(name, KNOWN_BILMS):
        _check_is_known(name)


def looks_like_a_path(name: str) -> bool:
    """
    Returns whether this is a path, an address or a repository, and not the name of a biLM.
    """
    return os.path.exists(name) or any(mark in name for mark in "./")


def is_bilm_file(name: str) -> bool:
    """Returns whether this is the path or address of a biLM, by the end of its name."""
    return name.endswith(".hdf5") or is_zip(name)


def is_zip(name: str) -> bool:
    """Returns whether this is the path or address of a zip file, by the end of its name."""
    return name.partition("?")[0].lower().endswith(".zip")


def _folder_of(name: str) -> str | None:
    """
    Returns the local folder with the files of a biLM, given a folder, a repository or a zip file.
    Returns `None` for any other name.
    """
    if os.path.isdir(name):
        return name
    if is_hub_name(name):
        return hub_folder(name)
    return _unzipped(_local_zip(name)) if is_zip(name) else None


def _local_zip(name: str) -> str:
    try:
        return os.path.abspath(local_path(name))
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file {name}") from error
    except OSError as error:
        raise ConfigurationError(f"{name} cannot be fetched: {error}") from error


@functools.cache
def _unzipped(path: str) -> str:
    """Unpacks a zip file. Returns the folder of its files, which is removed at exit."""
    with unpacked(path, keep=True) as folder:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # The zip file may have the files in a folder.
    (entry, *more) = os.listdir(folder) or [""]
    inside = os.path.join(folder, entry)
    return inside if not more and os.path.isdir(inside) else folder


def _check_is_known(name: str) -> None:
    if name not in KNOWN_BILMS and not looks_like_a_path(name):
        check_is_installed(name)
        known = nearest_or_all(name, sorted(KNOWN_BILMS))
        raise ConfigurationError(f"no biLM is known as {name!r}{known}")


def _files_in(folder: str, name: str) -> tuple[str, str]:
    if os.path.isfile(os.path.join(folder, MANY_LANGS_FILE)):
        return os.path.join(folder, "config.json"), os.path.join(folder, MANY_LANGS_FILE)
    files = []
    for known in ((OPTIONS_FILE,), (WEIGHTS_FILE, _NLPL_WEIGHTS_FILE)):
        paths = [path for file in known if (path := Path(folder, file)).is_file()]
        # The names of the authors' files are longer but end alike: `elmo_small_weights.hdf5`.
        others = sorted(Path(folder).glob(f"*{known[0]}"))
        if not paths and len(others) != 1:
            is_model = os.path.isfile(os.path.join(folder, "config.json"))
            kind = "; it has a model: elmo-tasks export writes its biLM" if is_model else ""
            raise ConfigurationError(
                f"{name} has {'several' if others else 'no'} {known[0]}; the folder of a biLM has "
                f"{OPTIONS_FILE} and {WEIGHTS_FILE}{kind}"
            )
        files.append(str((paths or others)[0]))
    return files[0], files[1]

import contextlib
import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import hub_folder, is_hub_name
from elmo_tasks.common.file_names import CONFIG_FILE
from elmo_tasks.common.package_data import check_is_installed
from elmo_tasks.common.text import listed, nearest_or_all
from elmo_tasks.elmo.locate import KNOWN_BILMS, KNOWN_MODELS

# Training data that are not free, by model. The terms of the data also hold for the model.
_TERMS = {
    "coref": "OntoGUM, some of whose texts are not for commercial use",
    "ner": "CoNLL-2003, whose text Reuters gives for research alone",
    "sst": "the Stanford Sentiment Treebank, whose reviews of films have no licence",
}


def model_path(name: str | os.PathLike) -> str:
    """
    Returns the path or address of a trained model. For a model of this package whose training data
    are not free, prints the terms of the data to standard error at the first call.

    The name is the path or address of a `model.tar.gz`; the folder of a training run or of
    `elmo-tasks pack`; a name in `KNOWN_MODELS`; or a repository on the hub, `owner/name` or
    `owner/name@revision`, with the files of such a folder. A local file or folder comes before a
    name. Raises `ConfigurationError` if there is no model of this name.
    """
    path = _model_path(os.path.expanduser(os.fspath(name)))
    if path in KNOWN_MODELS.values():
        _say_terms(path)
    return path


def _model_path(name: str) -> str:
    if os.path.isfile(name) or os.path.isfile(os.path.join(name, CONFIG_FILE)):
        return name
    if name in KNOWN_MODELS:
        return KNOWN_MODELS[name]
    if is_hub_name(name):
        return hub_folder(name)
    if not os.path.exists(name) and not any(mark in name for mark in "./"):
        if name in KNOWN_BILMS:
            raise ConfigurationError(
                f"{name} is a biLM, not a trained model; give one of {listed(KNOWN_MODELS)}"
            )
        check_is_installed(name)
        raise ConfigurationError(
            f"there is no file or folder {name}, and no model of this name"
            f"{nearest_or_all(name, sorted(KNOWN_MODELS))}"
        )
    return name


def name_archives(arguments: Sequence[str]) -> dict[str, str]:
    """
    Returns the paths of archives by their names, from arguments `[NAME=]ARCHIVE`. By default, the
    name of an archive is the path of its folder, without the first folders that all paths share.
    For example, `runs/a` and `runs/b` have the names `a` and `b`. Raises `ConfigurationError` if
    two archives have the same name.
    """
    named_archives = []
    for argument in arguments:
        name, separator, path = argument.partition("=")
        # A path may contain an equals sign.
        if not separator or os.path.exists(argument):
            name, path = "", argument
        folder = Path(os.path.abspath(path))
        named_archives.append(
            (name, path, folder.parent if folder.name == "model.tar.gz" else folder)
        )
    parent = os.path.commonpath([folder.parent for *_, folder in named_archives])
    archives: dict[str, str] = {}
    for name, path, folder in named_archives:
        name = name or str(folder.relative_to(parent))
        if name in archives:
            raise ConfigurationError(
                f"{archives[name]} and {path} would both be named {name}: give NAME=ARCHIVE"
            )
        archives[name] = path
    return archives


@functools.cache
def _say_terms(path: str) -> None:
    name = os.path.basename(path)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    marker = Path(base, "elmo_tasks", f"terms-of-{name}")
    if name in _TERMS and not marker.exists():
        page = os.path.join(os.path.dirname(os.path.dirname(path)), "README.md")
        print(
            f"{name} was learnt from {_TERMS[name]}. Before you pass it on or sell it, read {page}",
            file=sys.stderr,
        )
        # Where no file can be written, the message is shown each time.
        with contextlib.suppress(OSError):
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()

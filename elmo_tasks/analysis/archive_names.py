import os
from collections.abc import Sequence
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError


def name_archives(arguments: Sequence[str]) -> dict[str, str]:
    """
    Returns the paths of archives by their names, from arguments `[NAME=]ARCHIVE`. By default, the
    name of an archive is the path of its training's folder, without the leading folders that all
    archives have in common. Raises `ConfigurationError` if two archives have the same name.
    """
    named = [_split(argument) for argument in arguments]
    folders = [_folder(path) for _, path in named]
    shared = os.path.commonpath([folder.parent for folder in folders])
    archives: dict[str, str] = {}
    for (name, path), folder in zip(named, folders):
        name = name or str(folder.relative_to(shared))
        if name in archives:
            raise ConfigurationError(
                f"{archives[name]} and {path} would both be named {name}: give NAME=ARCHIVE"
            )
        archives[name] = path
    return archives


def _split(argument: str) -> tuple[str, str]:
    """Returns the name, which may be empty, and the path of an argument `[NAME=]ARCHIVE`."""
    name, separator, path = argument.partition("=")
    # A path may contain an equals sign.
    return (name, path) if separator and not os.path.exists(argument) else ("", argument)


def _folder(archive: str) -> Path:
    """Returns the folder of a `model.tar.gz`, and any other path as it is."""
    path = Path(os.path.abspath(archive))
    return path.parent if path.name == "model.tar.gz" else path

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
    named = []
    for argument in arguments:
        name, separator, path = argument.partition("=")
        # A path may contain an equals sign.
        if not separator or os.path.exists(argument):
            name, path = "", argument
        folder = Path(os.path.abspath(path))
        named.append((name, path, folder.parent if folder.name == "model.tar.gz" else folder))
    shared = os.path.commonpath([folder.parent for *_, folder in named])
    archives: dict[str, str] = {}
    for name, path, folder in named:
        name = name or str(folder.relative_to(shared))
        if name in archives:
            raise ConfigurationError(
                f"{archives[name]} and {path} would both be named {name}: give NAME=ARCHIVE"
            )
        archives[name] = path
    return archives

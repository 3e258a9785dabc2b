"""
Finds the configs, libraries, biLMs and trained models of this package by their names.

The name `elmo_tasks:sst/both` stands for the config `training_configs/sst/both.jsonnet` of the
package. A jsonnet file imports a library as `import 'elmo_tasks/sst.libsonnet'`, and a config as
`import 'elmo_tasks/sst/both.jsonnet'`. The biLM `mini` is in this package. The distribution
elmo-tasks-models installs the biLM `base` and the trained models in the folder `elmo_tasks_models`;
in a checkout they are beside `mini`.
"""

import codecs
import json
import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import nearest_or_all

_PREFIX = "elmo_tasks:"
_PACKAGE = Path(__file__).parents[1]

# The trained models of elmo-tasks-models, the one with the best score on dev first.
TRAINED = ("ner", "snli", "squad", "srl", "coref", "sst")

# The folders of configs that are no tasks: `imdb` has texts for `classify`.
NO_TASKS = ("imdb", "probe")


def config_folder() -> Path:
    """Returns the folder `training_configs` of the installed package or of the repository."""
    installed = _PACKAGE / "training_configs"
    return installed if installed.is_dir() else _PACKAGE.parent / "training_configs"


def config_names() -> list[str]:
    """Returns the names of the folders with configs, such as `sst`."""
    return sorted({path.parent.name for path in config_folder().glob("*/*.jsonnet")})


# The biLMs that have a name, each with its options. The biLMs that are fetched also have `weights`.
BILMS = json.loads((config_folder() / "lib" / "bilms.json").read_text(encoding="utf-8"))


def config_path(name: str | os.PathLike) -> str | os.PathLike:
    """
    Returns the path of a config that is named `elmo_tasks:TASK/VARIANT`. Any other name is a path,
    and is returned as it is. Raises `ConfigurationError` if there is no such config.
    """
    if not str(name).startswith(_PREFIX):
        return name
    folder = config_folder()
    path = folder / f"{str(name).removeprefix(_PREFIX)}.jsonnet"
    if not path.is_file():
        paths = sorted(folder.glob("*/*.jsonnet"))
        names = [_PREFIX + str(file.relative_to(folder).with_suffix("")) for file in paths]
        raise ConfigurationError(f"there is no config {name}{nearest_or_all(str(name), names)}")
    return str(path)


def import_jsonnet(folder: str, name: str) -> tuple[str, bytes]:
    """
    Returns the path and the content of the file that a jsonnet file in `folder` imports as `name`.
    As in jsonnet, the folder is searched first. jsonnet calls this as its `import_callback`.
    """
    path = Path(folder, name)
    if not path.is_file() and name.startswith("elmo_tasks/"):
        inside = name.removeprefix("elmo_tasks/")
        choices = [config_folder() / "lib" / inside, config_folder() / inside]
        path = next((choice for choice in choices if choice.is_file()), path)
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no file {name} in {folder or '.'}, and none in elmo_tasks"
        )
    # Jsonnet refuses the byte order mark that an `options.json` may have.
    return str(path), path.read_bytes().removeprefix(codecs.BOM_UTF8)


def pretrained_files(pattern: str) -> dict[str, str]:
    """Returns the paths of pretrained files that match a glob pattern, by their folders' names."""
    folders = [_PACKAGE / "pretrained"]
    try:
        installed = distribution("elmo-tasks-models").locate_file("elmo_tasks_models")
        folders.insert(0, Path(str(installed)).absolute())
    except PackageNotFoundError:
        pass
    paths = (path for folder in folders for path in sorted(folder.glob(pattern)))
    return {path.parent.name: str(path) for path in paths}


def check_is_installed(name: str) -> None:
    """
    Is called with a name that was not found. Raises `ConfigurationError` if the name belongs to
    elmo-tasks-models, which is then not installed.
    """
    if name in BILMS or name in TRAINED:
        raise ConfigurationError(
            f"{name} is part of the package elmo-tasks-models, which is not installed: "
            "pip install 'elmo-tasks[models]'"
        )

"""
Finds our own biLMs and trained models. `mini` is in this package. The distribution
elmo-tasks-models installs the others, as the folder `elmo_tasks_models`; in a checkout they are
beside `mini`.
"""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError

# The names in elmo-tasks-models.
MODELS = ("base", "coref", "ner", "snli", "squad", "srl", "sst")


def pretrained_files(pattern: str) -> dict[str, str]:
    """Returns the paths of the files that match a pattern, by the names of their folders."""
    folders = [Path(__file__).parents[1] / "pretrained"]
    try:
        installed = distribution("elmo-tasks-models").locate_file("elmo_tasks_models")
        folders.insert(0, Path(str(installed)).absolute())
    except PackageNotFoundError:
        pass
    paths = (path for folder in folders for path in sorted(folder.glob(pattern)))
    return {path.parent.name: str(path) for path in paths}


def check_is_installed(name: str) -> None:
    """
    Raises `ConfigurationError` if a name belongs to elmo-tasks-models. Call it only for a name that
    was not found, because the package is then not installed.
    """
    if name in MODELS:
        raise ConfigurationError(
            f"{name} is part of the package elmo-tasks-models, which is not installed: "
            "pip install 'elmo-tasks[models]'"
        )

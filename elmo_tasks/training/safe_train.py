"""
Makes `allennlp train` the only owner of its folder while it runs, and its archive appear whole or
not at all. The folder is owned before AllenNLP looks into it, so that `--force` removes no folder
in which another process trains. The config in the folder has the options of each biLM in full.
"""

import functools
import os
from typing import Any

from allennlp.commands import train
from allennlp.models import archival

from elmo_tasks.bilm.from_config import with_options
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.owner import own
from elmo_tasks.training.report import logger


def archive_model(
    serialization_dir: str | os.PathLike,
    weights: str = archival._DEFAULT_WEIGHTS,
    archive_path: str | os.PathLike | None = None,
    include_in_archive: list[str] | None = None,
) -> None:
    """Writes an archive as AllenNLP's function of this name does, but whole or not at all."""
    path = os.fspath(archive_path or serialization_dir)
    if os.path.isdir(path):
        path = os.path.join(path, "model.tar.gz")
    with atomic_write(path) as aside:
        archival.archive_model(serialization_dir, weights, aside, include_in_archive)
    logger.info("the model is in %s, and the log in %s", path, serialization_dir)


def _owning_its_folder(train_model: Any) -> Any:
    @functools.wraps(train_model)
    def train_model_alone(params: Any, serialization_dir: Any, *args: Any, **kwargs: Any) -> Any:
        if "model" in params:
            params["model"] = with_options(params.params["model"])
        with own(serialization_dir):
            return train_model(params, serialization_dir, *args, **kwargs)

    return train_model_alone


# `allennlp train` finds both functions by these names.
train.train_model = _owning_its_folder(train.train_model)
train.archive_model = archive_model

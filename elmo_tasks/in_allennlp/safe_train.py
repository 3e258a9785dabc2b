"""
Makes `allennlp train` the only owner of its folder while it runs. Makes its archive appear whole or
not at all. A process owns the folder before AllenNLP looks into the folder, so `--force` removes no
folder in which another process trains. Files of the folder are checked before they are read. The
config in the folder has the options of each biLM in full. A training that ended before its first
checkpoint needs no `--force` to begin again. If several nodes train one model, only the first node
archives it.
"""

import functools
import inspect
import os
from contextvars import ContextVar
from typing import Any

from allennlp.commands import train
from allennlp.models import archival
from allennlp.training import Checkpointer, GradientDescentTrainer
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.lock import lock
from elmo_tasks.common.torch_file import check_torch_file
from elmo_tasks.elmo.from_config import with_options
from elmo_tasks.in_allennlp.change import Change
from elmo_tasks.in_allennlp.how_to_go_on import is_left_over, noting_how_to_go_on
from elmo_tasks.training.report import logger
from elmo_tasks.training.several_processes import num_nodes, prepare_processes

_node_rank: ContextVar[int] = ContextVar("node_rank", default=0)


def archive_model(
    serialization_dir: str | os.PathLike,
    weights: str = archival._DEFAULT_WEIGHTS,
    archive_path: str | os.PathLike | None = None,
    include_in_archive: list[str] | None = None,
) -> None:
    """Writes an archive as AllenNLP's `archive_model` does, but whole or not at all."""
    if _node_rank.get() > 0:
        logger.info("node 0 has the weights and the archive; this node has the log alone")
        return
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
        given = inspect.signature(train_model).bind(params, serialization_dir, *args, **kwargs)
        recover = given.arguments.get("recover", False)
        node = _node_rank.set(given.arguments.get("node_rank", 0))
        try:
            with lock(serialization_dir), noting_how_to_go_on():
                prepare_processes(params, serialization_dir, recover)
                # Nodes may share the folder, and another node may have begun to fill it.
                if not recover and num_nodes(params) == 1 and is_left_over(serialization_dir):
                    given.arguments["force"] = True
                return train_model(*given.args, **given.kwargs)
        finally:
            _node_rank.reset(node)

    return train_model_alone


_load_checkpoint = Checkpointer.load_checkpoint
_load_weights = GradientDescentTrainer._load_model_state


@functools.wraps(_load_checkpoint)
def _load_checked_checkpoint(checkpointer: Checkpointer) -> TrainerCheckpoint | None:
    for path in checkpointer.find_latest_checkpoint() or ():
        check_torch_file(path)
    return _load_checkpoint(checkpointer)


@functools.wraps(_load_weights)
def _load_checked_weights(trainer: GradientDescentTrainer, path: str) -> None:
    check_torch_file(path)
    _load_weights(trainer, path)


_FOLDER_IS_DATA = "The files of a training, which may be a stranger's, are read as data."

CHANGES = (
    Change(
        train,
        "train_model",
        _owning_its_folder(train.train_model),
        "One training at a time owns a folder, and its config has the options of each biLM.",
    ),
    Change(train, "archive_model", archive_model, "An archive appears whole or not at all."),
    Change(Checkpointer, "load_checkpoint", _load_checked_checkpoint, _FOLDER_IS_DATA),
    Change(GradientDescentTrainer, "_load_model_state", _load_checked_weights, _FOLDER_IS_DATA),
)

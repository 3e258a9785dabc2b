"""Checks and prepares a training on several processes or nodes before they start."""

import os
import shutil
from pathlib import Path

from allennlp.common import Params
from allennlp.training.util import make_vocab_from_params

from elmo_tasks.common.errors import ConfigurationError


def prepare_processes(params: Params, serialization_dir: str | os.PathLike, recover: bool) -> None:
    """
    Prepares a training with the key `distributed`. The processes of a recovered training read the
    vocabulary from the folder, so an incomplete vocabulary is made anew.

    # Raises

    `ConfigurationError`: The config asks for something that AllenNLP does wrongly with several
        processes: it tests a share of the test data, or lets each node choose a port.
    """
    distributed = params.params.get("distributed")
    if distributed is None:
        return
    if params.params.get("evaluate_on_test"):
        raise ConfigurationError(
            "evaluate_on_test needs a single process: remove it, and test the archive with "
            "`elmo-tasks evaluate`"
        )
    if num_nodes(params) > 1 and "primary_port" not in distributed:
        address = distributed.get("primary_address", "127.0.0.1")
        raise ConfigurationError(
            f"distributed needs primary_port, the same for all nodes: a free port of {address}"
        )
    folder = Path(serialization_dir)
    if recover and folder.exists() and not _has_vocabulary(folder):
        shutil.rmtree(folder / "vocabulary", ignore_errors=True)
        make_vocab_from_params(params.duplicate(), folder)


def num_nodes(params: Params) -> int:
    """Returns the number of machines that a config trains on."""
    return (params.params.get("distributed") or {}).get("num_nodes", 1)


def _has_vocabulary(folder: Path) -> bool:
    # A language model's vocabulary is complete if this file exists (see `counts_path` of
    # `language_model`). Other vocabularies are complete if the training reached a checkpoint.
    counted = folder / "vocabulary" / ".counts.json"
    return counted.exists() or any(folder.glob("training_state_*.th"))

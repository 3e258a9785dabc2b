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
    vocabulary from the folder, which may be incomplete up to the first checkpoint: until then, it
    is made anew.

    # Raises

    `ConfigurationError`: The config has `evaluate_on_test`, for which AllenNLP would take a share
        of the test data.
    """
    if params.params.get("distributed") is None:
        return
    if params.params.get("evaluate_on_test"):
        raise ConfigurationError(
            "evaluate_on_test needs a single process: remove it, and test the archive with "
            "`elmo-tasks evaluate`"
        )
    folder = Path(serialization_dir)
    if recover and folder.exists() and not any(folder.glob("training_state_*.th")):
        shutil.rmtree(folder / "vocabulary", ignore_errors=True)
        make_vocab_from_params(params.duplicate(), folder)


def num_nodes(params: Params) -> int:
    """Returns the number of machines that a config trains on."""
    return (params.params.get("distributed") or {}).get("num_nodes", 1)

import os
import pickle
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from allennlp.training import Checkpointer, Trainer
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write, remove_leftovers
from elmo_tasks.common.torch_file import check_torch_file


@Checkpointer.register("elmo")
class ElmoCheckpointer(Checkpointer):
    """
    AllenNLP's checkpointer, made safe for trainings that are killed at any moment. Each of the two
    files of a checkpoint appears whole or not at all. A checkpoint with only one of them is
    ignored, and removed when the training is recovered.

    Registered as a `Checkpointer` with name "elmo". It has the parameters of AllenNLP's
    `Checkpointer`.
    """

    def save_checkpoint(self, trainer: Trainer) -> None:
        state = trainer.get_checkpoint_state()
        if state is None:
            return
        when = (
            state.trainer_state["epochs_completed"],
            state.trainer_state["batches_in_epoch_completed"],
        )
        # The training state is written last: a checkpoint is complete when it has one.
        for path, content in (
            (self._model_state_path(*when), state.model_state),
            (self._training_state_path(*when), state.trainer_state),
        ):
            _save(content, path)
        # AllenNLP does not write files that exist. Here it records the save and removes
        # old checkpoints.
        super().save_checkpoint(cast(Trainer, _Saved(state)))

    def load_checkpoint(self) -> TrainerCheckpoint | None:
        if self._is_primary:
            self._remove_remains()
        latest = self.find_latest_checkpoint()
        return None if latest is None else TrainerCheckpoint(*map(_load, latest))

    def _remove_remains(self) -> None:
        """Removes incomplete files of a training that was killed while it saved."""
        for when in super()._find_all_checkpoints() - self._find_all_checkpoints():
            self._remove_checkpoint(*when)
        folder = Path(self._serialization_dir)
        for aside in folder.glob(".*_state_e*_b*.th.*"):
            aside.unlink()
        others = ("best.th", "bilm.libsonnet", "model.tar.gz", "options.json", "weights.hdf5")
        remove_leftovers(*(folder / name for name in others))

    def _find_all_checkpoints(self) -> set[tuple[int, int]]:
        return {
            when
            for when in super()._find_all_checkpoints()
            if os.path.exists(self._training_state_path(*when))
        }


class _Saved(NamedTuple):
    """Gives a state that was computed already, for which processes may have to meet."""

    state: TrainerCheckpoint

    def get_checkpoint_state(self) -> TrainerCheckpoint:
        return self.state


def _load(path: str) -> dict[str, Any]:
    check_torch_file(path)
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (EOFError, KeyError, RuntimeError, ValueError, pickle.UnpicklingError) as error:
        raise ConfigurationError(f"{path} is no checkpoint: {error}") from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path} is no checkpoint, but holds {content!r:.80}")
    return content


def _save(content: Any, path: str) -> None:
    with atomic_write(path) as aside:
        torch.save(content, aside)

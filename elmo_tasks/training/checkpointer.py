import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from allennlp.training import Checkpointer
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.processes import broadcast_file, rank
from elmo_tasks.common.tensors import read_torch_file


@Checkpointer.register("elmo")
class ElmoCheckpointer(Checkpointer):
    """
    Extends AllenNLP's checkpointer for training runs that may be killed at any moment. Each of the
    two files of a checkpoint appears whole or not at all. A checkpoint with only one file is
    ignored, and is removed when the training run is recovered. Of several processes, only process 0
    saves. When the training run is recovered, process 0 sends its checkpoint to the other
    processes.

    Registered as a `Checkpointer` with name "elmo". It has the parameters of AllenNLP's
    `Checkpointer`. With several processes, a checkpoint is saved every 1,000 batches, not every
    `save_every_num_seconds`, because each process has its own clock.
    """

    def __init__(self, *args: Any, save_every_num_seconds: float = None, **kwargs: Any) -> None:
        if save_every_num_seconds is not None and rank().num_processes > 1:
            save_every_num_seconds = None
            kwargs.setdefault("save_every_num_batches", 1000)
        super().__init__(*args, save_every_num_seconds=save_every_num_seconds, **kwargs)

    def save_checkpoint(self, trainer: Any) -> None:
        state = trainer.get_checkpoint_state()
        if state is None:
            # AllenNLP records a save only in the process that writes it.
            self._last_save_num_epochs_completed = trainer._epochs_completed
            self._last_save_num_batches_in_epoch_completed = trainer._batches_in_epoch_completed
            return
        checkpoint = (
            state.trainer_state["epochs_completed"],
            state.trainer_state["batches_in_epoch_completed"],
        )
        # The training state is written last, so a checkpoint that has a training state is complete.
        for path, content in (
            (self._model_state_path(*checkpoint), state.model_state),
            (self._training_state_path(*checkpoint), state.trainer_state),
        ):
            with atomic_write(path) as aside:
                torch.save(content, aside)
        # AllenNLP does not overwrite existing files, so this call only records the save and removes
        # old checkpoints. It gets the state from above, since all processes must compute a state.
        state_source: Any = SimpleNamespace(get_checkpoint_state=lambda: state)
        super().save_checkpoint(state_source)

    def load_checkpoint(self) -> TrainerCheckpoint | None:
        if self._is_primary:
            self._remove_remains()
        if rank().num_processes > 1:
            return self._load_from_first()
        latest = self.find_latest_checkpoint()
        return None if latest is None else TrainerCheckpoint(*map(read_torch_file, latest))

    def _load_from_first(self) -> TrainerCheckpoint | None:
        """
        Returns the latest checkpoint of process 0 in every process. Other nodes may not have the
        folder of process 0.
        """
        latest = self.find_latest_checkpoint() if self._is_primary else None
        states = [broadcast_file(path) for path in latest or (None, None)]
        if None in states:
            return None
        names = latest or ("the weights of process 0", "the training state of process 0")
        return TrainerCheckpoint(*map(read_torch_file, names, states))

    def _remove_remains(self) -> None:
        """Removes incomplete files of a training run that was killed while it saved."""
        for checkpoint in super()._find_all_checkpoints() - self._find_all_checkpoints():
            self._remove_checkpoint(*checkpoint)
        # The names that `atomic_write` gives to files that it has not finished.
        for aside in Path(self._serialization_dir).glob(".*.*.????????"):
            aside.unlink()

    def _find_all_checkpoints(self) -> set[tuple[int, int]]:
        return {
            checkpoint
            for checkpoint in super()._find_all_checkpoints()
            if os.path.exists(self._training_state_path(*checkpoint))
        }

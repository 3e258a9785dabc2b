import math
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import torch
from allennlp.training import Checkpointer, Trainer
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.common.files import atomic_write, remove_leftovers
from elmo_tasks.common.processes import broadcast, broadcast_file, device_of_group, rank
from elmo_tasks.common.torch_file import read_torch_file


@Checkpointer.register("elmo")
class ElmoCheckpointer(Checkpointer):
    """
    AllenNLP's checkpointer, safe for trainings that are killed at any moment. Each of the two files
    of a checkpoint appears whole or not at all. A checkpoint with only one file is ignored, and
    removed when the training is recovered. Of several processes, process 0 saves, by its own clock,
    and sends its checkpoint to the others when the training is recovered.

    Registered as a `Checkpointer` with name "elmo". It has the parameters of AllenNLP's
    `Checkpointer`.
    """

    def __init__(self, *args: Any, save_every_num_seconds: float = None, **kwargs: Any) -> None:
        shares = rank().num_processes > 1
        super().__init__(
            *args, save_every_num_seconds=None if shares else save_every_num_seconds, **kwargs
        )
        self._seconds_of_all = save_every_num_seconds if shares else None

    def maybe_save_checkpoint(
        self, trainer: Trainer, num_epochs_completed: int, num_batches_in_epoch_completed: int
    ) -> bool:
        if self._seconds_of_all is not None:
            self._save_every_num_seconds = 0.0 if self._is_time() else math.inf
        done = num_epochs_completed, num_batches_in_epoch_completed
        saved = super().maybe_save_checkpoint(trainer, *done)
        if saved:
            # AllenNLP records a save only in the process that writes it.
            self._last_save_num_epochs_completed = num_epochs_completed
            self._last_save_num_batches_in_epoch_completed = num_batches_in_epoch_completed
        return saved

    def _is_time(self) -> bool:
        """Returns whether it is time to save, by the clock of process 0."""
        seconds = time.time() - self._last_save_time
        answer = torch.tensor([int(seconds >= self._seconds_of_all)], device=device_of_group())
        broadcast([answer])
        return bool(answer)

    def save_checkpoint(self, trainer: Trainer) -> None:
        state = trainer.get_checkpoint_state()
        if state is None:
            return
        when = (
            state.trainer_state["epochs_completed"],
            state.trainer_state["batches_in_epoch_completed"],
        )
        # The training state is written last, so a checkpoint that has a training state is complete.
        for path, content in (
            (self._model_state_path(*when), state.model_state),
            (self._training_state_path(*when), state.trainer_state),
        ):
            with atomic_write(path) as aside:
                torch.save(content, aside)
        # AllenNLP does not overwrite existing files, so this call only records the save and removes
        # old checkpoints. It gets the state that was computed: computing it may need all processes.
        super().save_checkpoint(cast(Trainer, SimpleNamespace(get_checkpoint_state=lambda: state)))

    def load_checkpoint(self) -> TrainerCheckpoint | None:
        if self._is_primary:
            self._remove_remains()
        if rank().num_processes > 1:
            return self._load_from_first()
        latest = self.find_latest_checkpoint()
        return None if latest is None else TrainerCheckpoint(*map(read_torch_file, latest))

    def _load_from_first(self) -> TrainerCheckpoint | None:
        """Returns the latest checkpoint of process 0, whose folder other nodes may lack."""
        latest = self.find_latest_checkpoint() if self._is_primary else None
        states = [broadcast_file(path) for path in latest or (None, None)]
        if None in states:
            return None
        names = latest or ("the weights of process 0", "the training state of process 0")
        return TrainerCheckpoint(*map(read_torch_file, names, states))

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

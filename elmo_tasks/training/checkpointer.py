import os
from typing import Any

import torch
from allennlp.training import Checkpointer, Trainer

from elmo_tasks.files import written_aside


@Checkpointer.register("elmo")
class ElmoCheckpointer(Checkpointer):
    """
    AllenNLP's checkpointer, for trainings that may be killed at any moment: each of the two files
    of a checkpoint appears whole or not at all, and one without the other is passed over.

    Registered as a `Checkpointer` with name "elmo"; its parameters are AllenNLP's.
    """

    def save_checkpoint(self, trainer: Trainer) -> None:
        state = trainer.get_checkpoint_state()
        if state is None:
            return
        when = (
            state.trainer_state["epochs_completed"],
            state.trainer_state["batches_in_epoch_completed"],
        )
        # The training state last: a checkpoint is complete when it is there.
        for path, content in (
            (self._model_state_path(*when), state.model_state),
            (self._training_state_path(*when), state.trainer_state),
        ):
            _save(content, path)
        # Both files are there, so that AllenNLP only removes those that are not kept.
        super().save_checkpoint(trainer)

    def _find_all_checkpoints(self) -> set[tuple[int, int]]:
        return {
            when
            for when in super()._find_all_checkpoints()
            if os.path.exists(self._training_state_path(*when))
        }


def _save(content: Any, path: str) -> None:
    with written_aside(path) as aside:
        torch.save(content, aside)

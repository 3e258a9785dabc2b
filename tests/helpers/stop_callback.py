"""A callback that stops a training, for the tests; `--include-package` makes it known."""

import os
import signal
from typing import Any

from allennlp.training import GradientDescentTrainer, TrainerCallback

# Where to stop: "epoch:batch", both as the trainer counts them; and whether by kill -9.
STOP_AT, KILL = "ELMO_TASKS_TEST_STOP_AT", "ELMO_TASKS_TEST_KILL"


class Stopped(Exception):
    pass


@TrainerCallback.register("stop")
class StopCallback(TrainerCallback):
    def on_batch(
        self,
        trainer: GradientDescentTrainer,
        batch_inputs: Any,
        batch_outputs: Any,
        batch_metrics: Any,
        epoch: int,
        batch_number: int,
        is_training: bool,
        **kwargs: Any,
    ) -> None:
        if is_training and os.environ.get(STOP_AT) == f"{epoch}:{batch_number}":
            if os.environ.get(KILL):
                os.kill(os.getpid(), signal.SIGKILL)
            raise Stopped

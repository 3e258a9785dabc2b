"""A callback that stops a training; `--include-package` makes AllenNLP know its name."""

import os
import signal
from typing import Any

from allennlp.training import GradientDescentTrainer, TrainerCallback

# Names of environment variables. STOP_AT is "epoch:batch", as the trainer counts both, and says
# when the callback raises `Stopped`. If KILL is "process" or "group", the callback kills the
# process or its process group instead, as `kill -9` does.
STOP_AT, KILL = "ELMO_TASKS_TEST_STOP_AT", "ELMO_TASKS_TEST_KILL"


class Stopped(Exception):
    """The callback stopped the training."""


@TrainerCallback.register("stop")
class StopCallback(TrainerCallback):
    """Stops a training where the environment says so. Registered with name "stop"."""

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
            if os.environ.get(KILL) == "process":
                os.kill(os.getpid(), signal.SIGKILL)
            if os.environ.get(KILL) == "group":
                os.killpg(0, signal.SIGKILL)
            raise Stopped

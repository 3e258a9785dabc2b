"""Makes AllenNLP's `find-lr` take the configs of this package, and say where its chart is."""

import functools
import os
from typing import Any

from allennlp.commands import find_learning_rate
from allennlp.common import Params

from elmo_tasks.in_allennlp.change import Change

_find = find_learning_rate.find_learning_rate_model


@functools.wraps(_find)
def _find_for_our_trainer(params: Params, serialization_dir: str, *args: Any, **kw: Any) -> None:
    trainer = params.params.get("trainer")
    if trainer is not None and trainer.get("type") == "elmo":
        # In one process, AllenNLP's own trainer makes the same steps as ours. If a large rate gives
        # a loss of NaN, AllenNLP's trainer goes on.
        trainer["type"] = "gradient_descent"
    _find(params, serialization_dir, *args, **kw)
    print(f"The loss by learning rate is in {os.path.join(serialization_dir, 'lr-losses.png')}")


CHANGES = (
    Change(
        find_learning_rate,
        "find_learning_rate_model",
        _find_for_our_trainer,
        "It takes no other trainer than AllenNLP's own.",
    ),
)

from collections.abc import Iterable
from typing import Any

import torch
from allennlp.training.moving_average import MovingAverage

from elmo_tasks.common.errors import ConfigurationError, check_choice

VALIDATIONS = ("average", "raw")


@MovingAverage.register("elmo_exponential")
class FixedMovingAverage(MovingAverage):
    """
    An exponential moving average of the trained weights. Its decay is the same from the first batch
    on; AllenNLP's average increases its decay. Checkpoints contain the averages, by the names of
    the weights. The best weights that a training keeps are averages.

    Registered as a `MovingAverage` with name "elmo_exponential".

    # Parameters

    decay (default `0.999`): A number from 0 to below 1.
    validate_on (default `'average'`): The weights that are validated and decide which epoch is
        best: `average`, or `raw` for the trained weights themselves, with a trainer of type `elmo`.
    """

    def __init__(
        self,
        parameters: Iterable[tuple[str, torch.nn.Parameter]],
        decay: float = 0.999,
        validate_on: str = "average",
    ) -> None:
        super().__init__(parameters)
        if not 0 <= decay < 1:
            raise ConfigurationError(f"decay must be from 0 to below 1, not {decay}")
        check_choice("validate_on", validate_on, VALIDATIONS)
        self.decay = decay
        self.validate_on = validate_on

    @torch.no_grad()
    def apply(self, num_updates: int | None = None) -> None:
        for name, parameter in self._parameters:
            self._shadows[name].lerp_(parameter, 1 - self.decay)

    def state_dict(self) -> dict[str, Any]:
        return {"averages": self._shadows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for name, average in state_dict["averages"].items():
            self._shadows[name].copy_(average)

from typing import Any, NamedTuple

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.models import load_archive

from elmo_tasks.commands.bilms import describe_model
from elmo_tasks.elmo import ElmoMix

# By the last part of a mix's name in the model. A token embedder is always at the input.
_PLACES = {"input_mix": "input", "output_mix": "output", "mix": "input"}


class PlacedMix(NamedTuple):
    """
    How a model mixes the layers of its biLM where ELMo joins it.

    # Parameters

    model, place : `str`
    weights : `list[float]`
        s_j of equation (1), from the layer of the tokens to the top; they sum to 1.
    gamma : `float`
    """

    model: str
    place: str
    weights: list[float]
    gamma: float

    @property
    def products(self) -> list[float]:
        """gamma * s_j."""
        return [self.gamma * weight for weight in self.weights]

    def as_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "products": self.products}


def read_mixes(name: str, archive: str) -> list[PlacedMix]:
    """
    The mixes of an archive, for the model of a name; raises `ConfigurationError` where there is
    none.
    """
    model = load_archive(archive).model
    mixes = find_mixes(model)
    if not mixes:
        raise ConfigurationError(
            f"{archive} holds no mix of elmo_tasks, but {describe_model(model)}"
        )
    return [
        PlacedMix(name, place, mix.weights.tolist(), mix.gamma.item())
        for place, mix in mixes.items()
    ]


def find_mixes(model: torch.nn.Module) -> dict[str, ElmoMix]:
    """
    The mixes of a model by their places, `input` and `output`, or by their names in the model
    where two would have the same place.
    """
    mixes = {name: module for name, module in model.named_modules() if isinstance(module, ElmoMix)}
    places = [_PLACES.get(name.rpartition(".")[2], name) for name in mixes]
    return {
        place if places.count(place) == 1 else name: mix
        for place, (name, mix) in zip(places, mixes.items())
    }

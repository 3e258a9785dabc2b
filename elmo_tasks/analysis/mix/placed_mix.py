from typing import Any, NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import describe_model, find_mixes, load_model

# The task models of this package whose tasks are in the paper's Figure 2. NER is not in it.
_IN_FIGURE_2 = {"Bcn", "Bidaf", "CorefResolver", "Esim", "SrlTagger"}


class PlacedMix(NamedTuple):
    """
    The mix of a biLM's layers that a model uses at one of its places for ELMo.

    # Parameters

    model: The name of the model.
    place: `input` or `output`, or the mix's name in the model if one place has two mixes.
    weights: The weights s_j of equation (1), from the layer of the tokens to the top; they sum to
        1.
    in_figure_2 (default `False`): Whether the paper's Figure 2 has the model's task.
    """

    model: str
    place: str
    weights: list[float]
    gamma: float
    in_figure_2: bool = False

    @property
    def products(self) -> list[float]:
        """The products gamma * s_j."""
        return [self.gamma * weight for weight in self.weights]

    def as_dict(self) -> dict[str, Any]:
        fields = {**self._asdict(), "products": self.products}
        del fields["in_figure_2"]
        return fields


def read_mixes(name: str, archive: str) -> list[PlacedMix]:
    """
    Returns the mixes of an archive's model. Reports call the model `name`. Raises
    `ConfigurationError` if the model has no mix.
    """
    model = load_model(archive)
    mixes = find_mixes(model)
    if not mixes:
        raise ConfigurationError(
            f"{archive} holds no mix of elmo_tasks, but {describe_model(model)}"
        )
    in_figure_2 = type(model).__name__ in _IN_FIGURE_2
    return [
        PlacedMix(name, place, mix.weights.tolist(), mix.gamma.item(), in_figure_2)
        for place, mix in mixes.items()
    ]

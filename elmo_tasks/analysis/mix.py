from collections.abc import Sequence
from typing import Any

import torch

from elmo_tasks.analysis.tables import layer_name, table
from elmo_tasks.archives.elmo_of_model import load_model
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.opening import find_mixes


def read_mixes(name: str, archive: str) -> list[dict[str, Any]]:
    """
    Returns the mixes of an archive's model, one for each place where ELMo joins the model.

    # Returns

    For each mix: `model`, the name of the model; `place`, which is `input` or `output`, or the name
    of the mix's module if one place has two mixes; `weights`, the s_j of equation (1) from the
    token layer to the top, with sum 1; and `gamma`.

    # Raises

    `ConfigurationError`: The model has no mix.
    """
    model = load_model(archive)
    if not (mixes := mixes_of(model)):
        raise ConfigurationError(f"{archive} holds a {type(model).__name__} without a mix")
    return [{"model": name, **mix} for mix in mixes]


def mixes_of(model: torch.nn.Module) -> list[dict[str, Any]]:
    """Returns the `place`, the `weights` and `gamma` of each mix (see `read_mixes`)."""
    return [
        {"place": place, "weights": mix.weights.tolist(), "gamma": mix.gamma.item()}
        for place, mix in find_mixes(model).items()
    ]


def mix_table(mixes: Sequence[dict[str, Any]]) -> str:
    """Returns a table with a row for each mix: its weights s_j and gamma."""
    layers = range(max(len(mix["weights"]) for mix in mixes))
    columns = ["model", "place", *(f"s{j}" for j in layers), "gamma"]
    rows = []
    for mix in mixes:
        weights = [f"{weight:.3f}" for weight in mix["weights"]]
        blanks = [""] * (len(layers) - len(weights))
        rows.append([mix["model"], mix["place"], *weights, *blanks, f"{mix['gamma']:.3f}"])
    names = ", ".join(f"s{j} is the weight of {layer_name(j)}" for j in layers)
    return f"{table(columns, rows)}\n\n{names}."

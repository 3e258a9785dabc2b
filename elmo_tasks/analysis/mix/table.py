from collections.abc import Sequence

from elmo_tasks.analysis.mix.placed_mix import PlacedMix
from elmo_tasks.analysis.tables import layer_name, table


def mix_table(mixes: Sequence[PlacedMix]) -> str:
    """Returns a table with a row for each mix: its weights s_j, gamma, and their products."""
    layers = range(max(len(mix.weights) for mix in mixes))
    columns = ["model", "place", *(f"s{j}" for j in layers), "gamma"]
    columns += [f"gamma s{j}" for j in layers]
    rows = []
    for mix in mixes:
        missing = [""] * (len(layers) - len(mix.weights))
        cells = [*_shown(mix.weights), *missing, *_shown([mix.gamma, *mix.products]), *missing]
        rows.append([mix.model, mix.place, *cells])
    names = ", ".join(f"s{j} is the weight of {layer_name(j)}" for j in layers)
    return f"{table(columns, rows)}\n\n{names}."


def _shown(values: Sequence[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]

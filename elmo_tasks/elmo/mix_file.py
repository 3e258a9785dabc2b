import json
import os

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.elmo.mix import ElmoMix

# The file of a trained mix, in the folder of its biLM.
MIX_FILE = "mix.json"

_FIELDS = {"layers", "scalar_parameters", "gamma", "layer_norm"}

_LARGEST = torch.finfo(torch.float32).max


def write_mix(path: str | os.PathLike, mix: ElmoMix) -> None:
    """
    Writes a mix as JSON: `layers` (`all`, `concat` or the index of one layer), `scalar_parameters`
    (the weights before their softmax, or null), `gamma` and `layer_norm`.
    """
    weights = mix.scalar_parameters
    fields = {
        "layers": mix.layers,
        "scalar_parameters": None if weights is None else weights.tolist(),
        "gamma": mix.gamma.item(),
        "layer_norm": mix.layer_norm,
    }
    write_whole(path, json.dumps(fields, indent=2) + "\n")


def read_mix(path: str | os.PathLike, num_layers: int) -> ElmoMix:
    """
    Reads a mix that `write_mix` wrote. Raises `ConfigurationError` if the file has another form, or
    its mix has another number of layers.
    """
    try:
        with open(path, encoding="utf-8") as file:
            fields = parse_json(file.read(10**6))
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from error
    if not isinstance(fields, dict) or set(fields) != _FIELDS:
        raise ConfigurationError(f"{path} must be an object with {', '.join(sorted(_FIELDS))}")
    mix = ElmoMix(num_layers, fields["layers"], layer_norm=fields["layer_norm"])
    num_weights = 0 if mix.scalar_parameters is None else num_layers
    weights = fields["scalar_parameters"] or []
    numbers = [*weights, fields["gamma"]] if isinstance(weights, list) else []
    if len(numbers) != num_weights + 1 or not all(map(_is_number, numbers)):
        raise ConfigurationError(
            f"{path} must have {num_weights} scalar_parameters and a gamma, all of them numbers "
            "that float32 can hold"
        )
    with torch.no_grad():
        if mix.scalar_parameters is not None:
            mix.scalar_parameters.copy_(torch.tensor(list(map(float, weights))))
        mix.gamma.fill_(float(fields["gamma"]))
    return mix


def _is_number(value: object) -> bool:
    # Integers of JSON may have any size. Python can compare them, but `math.isfinite` and torch
    # raise errors for large ones.
    return type(value) in (int, float) and abs(value) <= _LARGEST  # type: ignore[arg-type]

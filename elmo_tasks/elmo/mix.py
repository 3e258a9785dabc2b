import json
import os
from typing import Any, Union

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.text import parse_json

LAYER_NORMS = ("batch", "sentence")

# The arguments that decide what a mix computes, beside its parameters.
_SETTINGS = ("layers", "layer_norm")
_PARAMETERS = ("scalar_parameters", "gamma")


class ElmoMix(torch.nn.Module):
    """
    Computes equation (1) of Peters et al. 2018: ELMo_k = gamma * sum_j s_j h_{k,j}, with s =
    softmax(w). The penalty lambda ||w||^2 (section 3.3) is a regularizer of the task model,
    `elmo_lambda` in the configs.

    # Parameters

    num_layers: The number of layers that the biLM returns, the token layer included.
    layers: `all`; `concat` for all layers side by side, not summed; `last`; or
        the index of one layer, 0 for the token layer. Only `all` uses w. A single layer is the
        paper's "last only" (supplement A.2).
    trainable: Whether w and gamma are trained.
    layer_norm: Normalizes each layer to mean 0 and variance 1 before it is weighted. `batch`
        normalizes over all features and tokens of the batch, as bilm-tf does. `sentence` normalizes
        over the features and tokens of each sentence, so that its vectors do not depend on its
        batch. By default layers are not normalized.
    dropout: Dropout on the elements of ELMo_k.
    """

    def __init__(
        self,
        num_layers: int,
        layers: Union[str, int] = "all",
        trainable: bool = True,
        layer_norm: str = None,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.num_layers = num_layers
        # `all`, `concat`, or the index of one layer.
        self.layers = _layer_choice(layers, num_layers)
        if layer_norm not in (None, *LAYER_NORMS):
            raise ConfigurationError(
                f"layer_norm of a mix must be {' or '.join(LAYER_NORMS)}, or left out, "
                f"not {layer_norm!r}"
            )
        self.layer_norm = layer_norm
        # w is one tensor. It has the name of AllenNLP's list of scalars, so that regexes for
        # AllenNLP's mix match it.
        weights = torch.zeros(num_layers) if layers == "all" else None
        self.register_parameter(
            "scalar_parameters",
            None if weights is None else torch.nn.Parameter(weights, requires_grad=trainable),
        )
        self.gamma = torch.nn.Parameter(torch.ones(1), requires_grad=trainable)
        self.dropout = torch.nn.Dropout(dropout)
        self._register_load_state_dict_pre_hook(_join_scalars)

    @property
    def weights(self) -> torch.Tensor:
        """The weights s of equation (1): shape (num_layers,), with sum 1; ones for `concat`."""
        if self.scalar_parameters is not None:
            return torch.softmax(self.scalar_parameters, dim=0)
        if isinstance(self.layers, str):
            return self.gamma.new_ones(self.num_layers)
        weights = self.gamma.new_zeros(self.num_layers)
        weights[self.layers] = 1
        return weights

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that decide, beside w and gamma, what the mix computes without dropout."""
        return {name: getattr(self, name) for name in _SETTINGS}

    def get_output_dim(self, layer_dim: int) -> int:
        """Returns the width of ELMo_k, given the width of a layer."""
        return self.num_layers * layer_dim if self.layers == "concat" else layer_dim

    def forward(self, layers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """
        Maps layers of shape (batch, num_layers, length, dim) and a mask of shape (batch, length) to
        ELMo_k: shape (batch, length, dim), or (batch, length, num_layers * dim) for `concat`, with
        zeros at padding.
        """
        if layers.size(1) != self.num_layers:
            raise ConfigurationError(
                f"a mix of {self.num_layers} layers got {layers.size(1)} layers"
            )
        weights = self.weights
        if isinstance(self.layers, int):
            layers = layers[:, self.layers : self.layers + 1]
            weights = weights[self.layers : self.layers + 1]
        layers = layers.to(weights.dtype)
        if self.layer_norm is not None:
            layers = _normalize(layers, mask, over_batch=self.layer_norm == "batch")
        if self.layers == "concat":
            mixed = layers.transpose(1, 2).flatten(2)
        else:
            mixed = torch.einsum("j,bjkd->bkd", weights, layers)
        return self.dropout(self.gamma * mixed)

    def of_sentence(self, layers: torch.Tensor) -> torch.Tensor:
        """
        Computes ELMo_k of one sentence, shape (length, dim), without a gradient. The layers of the
        sentence have shape (num_layers, length, dim).
        """
        mask = torch.ones(1, layers.size(1), dtype=torch.bool)
        with torch.no_grad():
            return self(layers[None], mask)[0]


def _layer_choice(layers: Union[str, int], num_layers: int) -> Union[str, int]:
    if layers in ("all", "concat"):
        return layers
    if layers == "last":
        return num_layers - 1
    if not isinstance(layers, int) or isinstance(layers, bool) or not 0 <= layers < num_layers:
        raise ConfigurationError(
            f"layers of a mix must be all, concat, last or an index from 0 to {num_layers - 1}, "
            f"not {layers!r}"
        )
    return layers


def _normalize(layers: torch.Tensor, mask: torch.Tensor, over_batch: bool) -> torch.Tensor:
    # Shape: (batch, 1, length, 1)
    mask = mask[:, None, :, None]
    axes = (0, 2, 3) if over_batch else (2, 3)
    # A sentence without tokens has no statistics, and its zeros stay zeros.
    count = (mask.sum(dim=axes, keepdim=True) * layers.size(3)).clamp(min=1)
    mean = (layers * mask).sum(dim=axes, keepdim=True) / count
    centered = (layers - mean) * mask
    variance = (centered * centered).sum(dim=axes, keepdim=True) / count
    return centered * torch.rsqrt(variance + 1e-12)


def _join_scalars(state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Makes one tensor w of the parameters w_j that a checkpoint of AllenNLP's `ScalarMix` has."""
    keys = [key for key in state if key.startswith(f"{prefix}scalar_parameters.")]
    if keys:
        keys.sort(key=lambda key: int(key.rpartition(".")[2]))
        state[f"{prefix}scalar_parameters"] = torch.cat([state.pop(key) for key in keys])


def write_mix(path: str | os.PathLike, mix: ElmoMix) -> None:
    """
    Writes a mix as JSON: its `settings`, `scalar_parameters` (the weights before their softmax, or
    null) and `gamma`.
    """
    weights = mix.scalar_parameters
    fields = {
        **mix.settings,
        "scalar_parameters": None if weights is None else weights.tolist(),
        "gamma": mix.gamma.item(),
    }
    write_whole(path, json.dumps(fields, indent=2) + "\n")


def read_mix(path: str | os.PathLike, num_layers: int) -> ElmoMix:
    """
    Reads a mix that `write_mix` wrote. A setting that the file lacks has its default. Raises
    `ConfigurationError` if the file has another form, or if its mix has not `num_layers` layers.
    """
    try:
        with open(path, "rb") as file:
            fields = parse_json(file.read(10**6))
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from error
    known = {*_PARAMETERS, *_SETTINGS}
    if not isinstance(fields, dict) or not set(_PARAMETERS) <= set(fields) <= known:
        raise ConfigurationError(f"{path} must be an object with {', '.join(sorted(known))}")
    weights, gamma = (fields.pop(name) for name in _PARAMETERS)
    mix = ElmoMix(num_layers, **fields)
    state = {"scalar_parameters": weights, "gamma": [gamma]}
    try:
        mix.load_state_dict(
            {
                name: torch.tensor(value, dtype=torch.double)
                for name, value in state.items()
                if value is not None
            }
        )
    except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"{path} must have {mix.num_layers if mix.layers == 'all' else 0} numbers as "
            "scalar_parameters, and a number as gamma"
        ) from error
    if not all(parameter.isfinite().all() for parameter in mix.parameters()):
        raise ConfigurationError(f"{path} must have numbers that float32 can hold")
    return mix

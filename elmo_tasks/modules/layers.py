from typing import Any

import torch
from allennlp.common.checks import check_dimensions_match
from allennlp.modules import FeedForward
from allennlp.nn import Initializer

from elmo_tasks.kernels.trained_product import trained_product


class Linear(torch.nn.Linear):
    """Computes what `torch.nn.Linear` does, forward and backward, by `trained_product`."""

    @classmethod
    def like(cls, layer: torch.nn.Linear) -> "Linear":
        """Returns a layer that shares the weights of another layer."""
        has_bias = layer.bias is not None
        # The device `meta` takes no memory and draws no random numbers.
        linear = cls(layer.in_features, layer.out_features, has_bias, device="meta")
        linear.weight, linear.bias = layer.weight, layer.bias
        return linear

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return trained_product(x, self.weight, self.bias)


def use_products(feedforward: FeedForward) -> None:
    """Makes the layers of a feed-forward network use `trained_product`, with the same weights."""
    for index, layer in enumerate(feedforward._linear_layers):
        feedforward._linear_layers[index] = Linear.like(layer)


@Initializer.register("elmo_truncated_normal")
class TruncatedNormal(Initializer):
    """
    Draws from a normal distribution around zero, cut off at two standard deviations, like
    TensorFlow's `truncated_normal`.

    Registered as an `Initializer` with name "elmo_truncated_normal". `std` is the standard
    deviation before the cut.
    """

    def __init__(self, std: float) -> None:
        self.std = std

    def __call__(self, tensor: torch.Tensor, **kwargs) -> None:
        torch.nn.init.trunc_normal_(tensor, std=self.std, a=-2 * self.std, b=2 * self.std)


def check_input(name: str, module: Any, width: int, source: str) -> None:
    """
    Raises `ConfigurationError` if a module's input width is not `width`, the width of `source`.
    """
    check_dimensions_match(width, module.get_input_dim(), source, f"input of {name}")

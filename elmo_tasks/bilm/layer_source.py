from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy
import torch


class LayerSource(NamedTuple):
    """
    Describes a biLM to a store, which does not see the `BiLm` itself.

    # Parameters

    fingerprint: A hash of the weights, the options, the dtype and the kind of start state.
    start: The numbers of the state that every sentence starts from; empty if all are zeros.
    """

    fingerprint: bytes
    start: numpy.ndarray
    num_layers: int
    dim: int


class Store(Protocol):
    """Remembers the layers of sentences. `LayerStore` is one."""

    dtype: str

    def layers(
        self,
        source: LayerSource,
        char_ids: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
    ) -> torch.Tensor:
        """As `LayerStore.layers`."""

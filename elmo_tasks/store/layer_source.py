from typing import NamedTuple

import numpy


class LayerSource(NamedTuple):
    """
    Describes a biLM to a store: what its layers depend on, and their shape. A store does not see
    the `BiLm` itself.

    # Parameters

    fingerprint: A hash of the weights, the options, the dtype and the kind of start state.
    about: A description for people: `bilm` (sizes and dtype) and `state`.
    start: The numbers of the state that every sentence starts from; empty if all are zeros.
    num_layers: The number of layers of a sentence, the token layer included.
    dim: The width of a layer.
    """

    fingerprint: bytes
    about: dict[str, str]
    start: numpy.ndarray
    num_layers: int
    dim: int

from typing import NamedTuple

import numpy


class LayerSource(NamedTuple):
    """
    Describes a biLM to a store: what its layers depend on, and their shape. A store does not see
    the `BiLm` itself.

    # Parameters

    fingerprint : `bytes`
        A hash of the weights, the options, the dtype and the kind of start state.
    about : `dict[str, str]`
        A description for people: `bilm` (sizes and dtype) and `state`.
    start : `numpy.ndarray`
        The numbers of the state that every sentence starts from; empty if all are zeros.
    num_layers : `int`
        The number of layers of a sentence, the token layer included.
    dim : `int`
        The width of a layer.
    """

    fingerprint: bytes
    about: dict[str, str]
    start: numpy.ndarray
    num_layers: int
    dim: int

from typing import NamedTuple

import numpy


class LayerSource(NamedTuple):
    """
    Describes a biLM to a store, which knows no biLM: what its layers follow from, and their shape.

    # Parameters

    fingerprint : `bytes`
        A hash of the weights, the options, the dtype and the kind of start state.
    about : `dict[str, str]`
        A description for people: `bilm` (sizes and dtype) and `state`.
    start : `numpy.ndarray`
        The numbers of the state that every sentence starts from; empty where it is zeros.
    num_layers : `int`
        Layers of a sentence, the token layer included.
    dim : `int`
        Width of a layer.
    """

    fingerprint: bytes
    about: dict[str, str]
    start: numpy.ndarray
    num_layers: int
    dim: int

    def entry_bytes(self, length: int, dtype: str) -> int:
        """
        Returns the size of an entry: the other layers whole, but layer 0 once, whose two halves are
        equal.
        """
        width = self.dim * (2 * self.num_layers - 1) // 2
        return length * width * numpy.dtype(dtype).itemsize

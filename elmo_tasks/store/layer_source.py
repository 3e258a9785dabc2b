import json
from typing import TYPE_CHECKING, NamedTuple

import numpy
import torch

from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.store.database import LayerDatabase

if TYPE_CHECKING:
    from elmo_tasks.bilm.bilm import BiLm

# States that differ by no more than this lead to the same layers to 1e-5.
_SAME_START = 5e-6


class StoreOwner(NamedTuple):
    """
    Whose layers the entries of a store are.

    # Parameters

    weights : `bytes`
        Fingerprint of the biLM and of the entries' dtype.
    about : `dict[str, str]`
        What people want to know of both.
    start : `numpy.ndarray`
        The state that every sentence starts from: no numbers where that is zeros.
    """

    weights: bytes
    about: dict[str, str]
    start: numpy.ndarray

    @classmethod
    def of(cls, bilm: "BiLm", dtype: str) -> "StoreOwner":
        options = bilm.options
        size = f"{options.num_layers}x{options.cell_dim}_{options.projection_dim}"
        about = {"bilm": f"{size} {bilm.dtype}", "state": bilm.state_name, "dtype": dtype}
        parts = [part.detach().float().cpu().flatten() for part in bilm.state.state_dict().values()]
        start = torch.cat([torch.zeros(0), *parts]).numpy()
        return cls(hash_bytes(bilm.fingerprint() + dtype.encode()), about, start)

    def key(self) -> bytes:
        """What the keys of the entries begin with: 16 bytes."""
        return hash_bytes(self.weights + self.start.tobytes())

    def shared_in(self, database: LayerDatabase) -> "StoreOwner":
        """
        The owner whose entries in a database this one shares. The state that a biLM starts from
        follows from its weights, but not to the last bit on every machine: the database keeps that
        of the first which came, and whoever differs from it by rounding alone goes by it.
        """
        for key in (self.weights, self.key()):
            database.put({key: self.to_bytes()})
            kept = database.get({key: None}).get(key)
            if kept is not None:
                first = StoreOwner.from_bytes(kept.tobytes())
                if first.starts_like(self):
                    return first
        return self

    def starts_like(self, other: "StoreOwner") -> bool:
        """Whether the states of both are the same but for rounding."""
        return numpy.allclose(self.start, other.start, rtol=0, atol=_SAME_START)

    def to_bytes(self) -> bytes:
        about = json.dumps({**self.about, "weights": self.weights.hex()})
        return about.encode() + b"\n" + self.start.tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> "StoreOwner":
        line, _, start = content.partition(b"\n")
        about = json.loads(line)
        weights = bytes.fromhex(about.pop("weights"))
        return cls(weights, about, numpy.frombuffer(start, numpy.float32))

import json
from typing import NamedTuple

import numpy

from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.store.database import LayerDatabase
from elmo_tasks.store.layer_source import LayerSource

# Start states that differ by no more than this lead to layers that are equal to 1e-5.
_SAME_START = 5e-6


class SourceRecord(NamedTuple):
    """
    Says whose layers some entries of a store are, and in which dtype. The database keeps it beside
    the entries.

    # Parameters

    weights : `bytes`
        A hash of the source's fingerprint and of the entries' dtype.
    about : `dict[str, str]`
        A description for people: `bilm`, `state` and `dtype`.
    start : `numpy.ndarray`
        The numbers of the state that every sentence starts from; empty where it is zeros.
    """

    weights: bytes
    about: dict[str, str]
    start: numpy.ndarray

    @classmethod
    def of(cls, source: LayerSource, dtype: str) -> "SourceRecord":
        weights = hash_bytes(source.fingerprint + dtype.encode())
        return cls(weights, {**source.about, "dtype": dtype}, source.start)

    def key(self) -> bytes:
        """Returns the 16 bytes that the keys of the entries begin with."""
        return hash_bytes(self.weights + self.start.tobytes())

    def shared_in(self, database: LayerDatabase) -> "SourceRecord":
        """
        Returns the record whose entries in a database this one shares. The start state follows from
        the weights, but its last bits differ between machines. The database keeps the first one; a
        biLM whose start state differs from it only by rounding shares its entries.
        """
        for key in (self.weights, self.key()):
            database.put({key: self.to_bytes()})
            kept = database.get({key: None}).get(key)
            if kept is not None:
                first = SourceRecord.from_bytes(kept.tobytes())
                if first.starts_like(self):
                    return first
        return self

    def starts_like(self, other: "SourceRecord") -> bool:
        """Tells whether both start states are equal but for rounding."""
        return numpy.allclose(self.start, other.start, rtol=0, atol=_SAME_START)

    def to_bytes(self) -> bytes:
        about = json.dumps({**self.about, "weights": self.weights.hex()})
        return about.encode() + b"\n" + self.start.tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> "SourceRecord":
        line, _, start = content.partition(b"\n")
        about = json.loads(line)
        weights = bytes.fromhex(about.pop("weights"))
        return cls(weights, about, numpy.frombuffer(start, numpy.float32))

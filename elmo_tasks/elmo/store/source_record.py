import json
from typing import NamedTuple

import numpy

from elmo_tasks.bilm.layer_source import LayerSource
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.elmo.store.database import LayerDatabase

# If start states differ by at most this, their layers differ by less than 1e-5.
_SAME_START = 5e-6


class SourceRecord(NamedTuple):
    """
    Describes the biLM that computed some entries of a store, and their dtype. The database keeps
    the record beside the entries.

    # Parameters

    weights: A hash of the biLM's fingerprint and of the dtype.
    about: A description for people: `bilm`, `state` and `dtype`.
    start: The numbers of the state that every sentence starts from; empty if all are zeros.
    """

    weights: bytes
    about: dict[str, str]
    start: numpy.ndarray

    @classmethod
    def of(cls, source: LayerSource, dtype: str) -> "SourceRecord":
        weights = hash_bytes(source.fingerprint + dtype.encode())
        return cls(weights, {**source.about, "dtype": dtype}, source.start)

    def key(self) -> bytes:
        """Returns the 16 bytes with which the keys of the entries begin."""
        return hash_bytes(self.weights + self.start.tobytes())

    def shared_in(self, database: LayerDatabase) -> "SourceRecord":
        """
        Returns the record under which a database keeps the entries of this record, and adds it if
        needed. The start state is computed from the weights, so its last bits differ between
        machines. If start states differ only by rounding, the first record holds all entries.
        """
        for key in (self.weights, self.key()):
            database.put({key: self.to_bytes()})
            kept = self._kept_in(database, key)
            if kept is not None:
                return kept
        return self

    def found_in(self, database: LayerDatabase) -> "SourceRecord | None":
        """
        Does what `shared_in` does, but writes nothing. Returns `None` if the database has no such
        record.
        """
        return self._kept_in(database, self.weights) or self._kept_in(database, self.key())

    def _kept_in(self, database: LayerDatabase, key: bytes) -> "SourceRecord | None":
        kept = database.get({key: None}).get(key)
        first = None if kept is None else SourceRecord.from_bytes(kept.tobytes())
        return first if first is not None and first.starts_like(self) else None

    def starts_like(self, other: "SourceRecord") -> bool:
        """Returns whether the start states of two records are equal, except for rounding."""
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

import json

import numpy

from elmo_tasks.bilm.layer_source import LayerSource
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.elmo.store.database import LayerDatabase

# If start states differ by at most this, their layers differ by less than 1e-5.
_SAME_START = 5e-6


def own_key(source: LayerSource, dtype: str) -> bytes:
    """Returns a hash of a biLM, the numbers of its start state, and the dtype of its entries."""
    return hash_bytes(_weights(source, dtype) + source.start.tobytes())


def key_in(database: LayerDatabase, source: LayerSource, dtype: str) -> bytes:
    """
    Returns the bytes with which a database begins the keys of a biLM's entries. Keeps a record of
    the biLM in the database. The start state is computed from the weights, so its last bits differ
    between machines. If start states differ only by rounding, the first record's key is used.
    """
    weights = _weights(source, dtype)
    about = {**source.about, "dtype": dtype, "weights": weights.hex()}
    record = json.dumps(about).encode() + b"\n" + source.start.tobytes()
    for key in (weights, own_key(source, dtype)):
        kept = database.get({key: None}).get(key)
        if kept is None:
            database.put({key: record})
            kept = database.get({key: None}).get(key)
        if kept is not None:
            start = numpy.frombuffer(kept.tobytes().partition(b"\n")[2], source.start.dtype)
            if numpy.allclose(start, source.start, rtol=0, atol=_SAME_START):
                return hash_bytes(weights + start.tobytes())
    return own_key(source, dtype)


def _weights(source: LayerSource, dtype: str) -> bytes:
    return hash_bytes(source.fingerprint + dtype.encode())

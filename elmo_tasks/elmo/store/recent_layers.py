import threading
from collections import OrderedDict

import numpy

from elmo_tasks.elmo.store.forks import hold_during_forks


class RecentLayers:
    """
    Keeps arrays by key, in a bounded number of bytes. The least recently used arrays are dropped.
    Several threads may use it.

    # Parameters

    max_bytes: The largest total size of the arrays that are kept.
    """

    def __init__(self, max_bytes: float) -> None:
        self.lock = threading.RLock()
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._entries: OrderedDict[bytes, numpy.ndarray] = OrderedDict()
        hold_during_forks(self)

    def get(self, key: bytes) -> numpy.ndarray | None:
        with self.lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: bytes, entry: numpy.ndarray) -> None:
        with self.lock:
            if key in self._entries or entry.nbytes > self._max_bytes:
                return
            self._num_bytes += entry.nbytes
            while self._num_bytes > self._max_bytes:
                self._num_bytes -= self._entries.popitem(last=False)[1].nbytes
            self._entries[key] = entry

import threading
from collections.abc import Callable

import torch


class TokenCache:
    """
    Keeps x^LM of recent tokens, so the character CNN of a frozen biLM runs only over new tokens. A
    full cache drops its oldest token. If another thread is using the cache, x^LM is computed
    without it. With the widths of `original`, a token takes 2 kB.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._rows: dict[bytes, int] = {}
        self._vectors: torch.Tensor | None = None
        self._lock = threading.Lock()

    def vectors(
        self, char_ids: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """
        Returns x^LM of distinct tokens. `compute` computes x^LM of the tokens that the cache lacks.
        """
        if not 0 < len(char_ids) <= self._max_tokens:
            return compute(char_ids)
        keys = [row.tobytes() for row in char_ids.to(torch.int16).numpy()]
        hits, hit_vectors = self._look_up(keys)
        if hit_vectors is not None and len(hits) == len(keys):
            return hit_vectors
        misses = sorted(set(range(len(keys))).difference(hits))
        new_vectors = compute(char_ids[misses])
        self._add([keys[index] for index in misses], new_vectors)
        if hit_vectors is None:
            return new_vectors
        vectors = new_vectors.new_empty(len(keys), new_vectors.size(1))
        vectors[misses], vectors[hits] = new_vectors, hit_vectors
        return vectors

    def _look_up(self, keys: list[bytes]) -> tuple[list[int], torch.Tensor | None]:
        """Returns the indices of the keys that the cache has, and their vectors."""
        if not self._lock.acquire(blocking=False):
            return [], None
        try:
            hits = [index for index, key in enumerate(keys) if key in self._rows]
            if self._vectors is None or not hits:
                return [], None
            return hits, self._vectors[[self._rows[keys[index]] for index in hits]]
        finally:
            self._lock.release()

    # The vectors are ordinary tensors, so that they can be used in inference mode and outside.
    @torch.inference_mode(False)
    @torch.no_grad()
    def _add(self, keys: list[bytes], vectors: torch.Tensor) -> None:
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._vectors is None:
                # The system takes memory for a row only when the row is written.
                self._vectors = vectors.new_empty(self._max_tokens, vectors.size(1))
            # Another thread may have added some of the tokens.
            new = [index for index, key in enumerate(keys) if key not in self._rows]
            rows = [self._row(keys[index]) for index in new]
            self._vectors[rows] = vectors[new].clone()
        except BaseException:
            # Some rows may not have their vectors yet, so all are forgotten.
            self._rows = {}
            raise
        finally:
            self._lock.release()

    def _row(self, key: bytes) -> int:
        """Returns a row for a new token: a free row, or the row of the oldest token."""
        full = len(self._rows) == self._max_tokens
        row = self._rows.pop(next(iter(self._rows))) if full else len(self._rows)
        self._rows[key] = row
        return row

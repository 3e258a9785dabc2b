from collections.abc import Callable

import torch


class TokenCache:
    """
    Keeps x^LM of recent tokens, so that the character CNN of a frozen biLM runs over new tokens
    only. A token is found by its char ids. A full cache drops the token that it has had longest.

    # Parameters

    max_tokens : `int`
        The most tokens that the cache keeps; at the original size, a token takes about 2 kB.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._rows: dict[bytes, int] = {}
        self._vectors: torch.Tensor | None = None

    def vectors(
        self, char_ids: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """
        # Parameters

        char_ids : `torch.LongTensor`
            Shape (tokens, 50), all distinct.
        compute : `Callable`
            Computes x^LM of char ids, for the tokens that the cache lacks.

        # Returns

        `torch.Tensor`
            Shape (tokens, projection_dim).
        """
        if not 0 < len(char_ids) <= self._max_tokens:
            return compute(char_ids)
        keys = [row.tobytes() for row in char_ids.to(torch.int16).numpy()]
        missing = [index for index, key in enumerate(keys) if key not in self._rows]
        if not missing:
            return self._at(keys)
        computed = compute(char_ids[missing])
        # These are looked up before new tokens replace old ones.
        found = [index for index, key in enumerate(keys) if key in self._rows]
        vectors = computed.new_empty(len(keys), computed.size(1))
        vectors[missing] = computed
        if found:
            vectors[found] = self._at([keys[index] for index in found])
        self._put([keys[index] for index in missing], computed)
        return vectors

    def _at(self, keys: list[bytes]) -> torch.Tensor:
        assert self._vectors is not None
        return self._vectors[[self._rows[key] for key in keys]]

    def _put(self, keys: list[bytes], vectors: torch.Tensor) -> None:
        if self._vectors is None:
            self._vectors = vectors.new_empty(0, vectors.size(1))
        wanted = min(self._max_tokens, len(self._rows) + len(keys))
        if wanted > len(self._vectors):
            # Doubled, so that growing copies each vector only a few times.
            size = min(self._max_tokens, 2 * wanted)
            grown = vectors.new_empty(size, vectors.size(1))
            grown[: len(self._vectors)] = self._vectors
            self._vectors = grown
        rows = []
        for key in keys:
            full = len(self._rows) == self._max_tokens
            row = self._rows.pop(next(iter(self._rows))) if full else len(self._rows)
            self._rows[key] = row
            rows.append(row)
        self._vectors[rows] = vectors

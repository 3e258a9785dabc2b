from collections.abc import Callable

import torch


class TokenCache:
    """
    x^LM of the tokens met last, so that the character CNN of a frozen biLM runs over new ones
    alone. A token is found by its char ids; when the cache is full, the one that came first goes.

    # Parameters

    max_tokens : `int`
        How many it holds; for the original size about 2 kB each.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._places: dict[bytes, int] = {}
        self._vectors: torch.Tensor | None = None

    def vectors(
        self, char_ids: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """
        # Parameters

        char_ids : `torch.LongTensor`
            Distinct tokens: shape (tokens, 50).
        compute : `Callable`
            From char ids to x^LM, for the tokens that are not there.

        # Returns

        `torch.Tensor`
            Shape (tokens, projection_dim).
        """
        if not 0 < len(char_ids) <= self._max_tokens:
            return compute(char_ids)
        keys = [row.tobytes() for row in char_ids.to(torch.int16).numpy()]
        missing = [number for number, key in enumerate(keys) if key not in self._places]
        if not missing:
            return self._at(keys)
        computed = compute(char_ids[missing])
        # Before those that are new take the place of any.
        found = [number for number, key in enumerate(keys) if key in self._places]
        vectors = computed.new_empty(len(keys), computed.size(1))
        vectors[missing] = computed
        if found:
            vectors[found] = self._at([keys[number] for number in found])
        self._put([keys[number] for number in missing], computed)
        return vectors

    def _at(self, keys: list[bytes]) -> torch.Tensor:
        assert self._vectors is not None
        return self._vectors[[self._places[key] for key in keys]]

    def _put(self, keys: list[bytes], vectors: torch.Tensor) -> None:
        if self._vectors is None:
            self._vectors = vectors.new_empty(0, vectors.size(1))
        wanted = min(self._max_tokens, len(self._places) + len(keys))
        if wanted > len(self._vectors):
            # Twice as large, so that what is there is copied seldom.
            size = min(self._max_tokens, 2 * wanted)
            grown = vectors.new_empty(size, vectors.size(1))
            grown[: len(self._vectors)] = self._vectors
            self._vectors = grown
        places = []
        for key in keys:
            full = len(self._places) == self._max_tokens
            place = self._places.pop(next(iter(self._places))) if full else len(self._places)
            self._places[key] = place
            places.append(place)
        self._vectors[places] = vectors

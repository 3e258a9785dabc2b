from typing import Any

import numpy
import torch
from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer

# The maximum number of words whose char ids are kept.
_MAX_WORDS = 200_000


@TokenIndexer.register("elmo_char_ids")
class CharIdsIndexer(TokenIndexer):
    """
    Gives the same char ids as AllenNLP's `elmo_characters`, but makes them only when a batch is
    made. Until then, an indexed text is a list of words. With AllenNLP's indexer, it takes two
    kilobytes a token.

    Registered as a `TokenIndexer` with name "elmo_char_ids".
    """

    def __init__(self) -> None:
        super().__init__()
        self.characters = ELMoTokenCharactersIndexer()
        # Maps a word to its char ids, shape (50,).
        self._known: dict[str, numpy.ndarray] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CharIdsIndexer)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Counts nothing, because characters need no vocabulary."""

    def get_empty_token_list(self) -> dict[str, list[str]]:
        return {"elmo_tokens": []}

    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary | None
    ) -> dict[str, list[str]]:
        """Returns the words themselves under `elmo_tokens`."""
        return {"elmo_tokens": [token.ensure_text() for token in tokens]}

    def as_padded_tensor_dict(
        self, tokens: dict[str, list[str]], padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """Returns char ids of shape (padded length, 50), with zeros at padding."""
        words = tokens["elmo_tokens"][: padding_lengths["elmo_tokens"]]
        char_ids = torch.zeros(padding_lengths["elmo_tokens"], 50, dtype=torch.long)
        if words:
            rows = numpy.stack([self._char_ids(word) for word in words])
            char_ids[: len(words)] = torch.from_numpy(rows)
        return {"elmo_tokens": char_ids}

    def _char_ids(self, word: str) -> numpy.ndarray:
        char_ids = self._known.get(word)
        if char_ids is None:
            if len(self._known) >= _MAX_WORDS:
                self._known.clear()
            (ids,) = self.characters.tokens_to_indices([Token(word)], None)["elmo_tokens"]
            char_ids = self._known[word] = numpy.array(ids, numpy.int16)
        return char_ids

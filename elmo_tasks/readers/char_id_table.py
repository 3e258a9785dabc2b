import numpy
import torch
from allennlp.data import Vocabulary
from allennlp.data.token_indexers.elmo_indexer import ELMoCharacterMapper


class CharIdTable:
    """
    Char ids and word ids of the words met so far, so that a batch of text becomes tensors by a
    look-up a token: what the indexers `elmo_characters` and `single_id` give, many times as fast.

    # Parameters

    vocab : `Vocabulary`
        Of the word ids.
    namespace : `str`
        Of the word ids.
    max_words : `int`, optional (default = `1_000_000`)
        The table starts anew when it holds this many (about 110 bytes each).
    """

    def __init__(
        self, vocab: Vocabulary, namespace: str = "tokens", max_words: int = 1_000_000
    ) -> None:
        self._vocab, self._namespace, self._max_words = vocab, namespace, max_words
        self._mapper = ELMoCharacterMapper()
        self._forget()

    def _forget(self) -> None:
        self._places: dict[str, int] = {}
        # Row 0 is padding.
        self._char_ids = numpy.zeros((1024, ELMoCharacterMapper.max_word_length), numpy.int16)
        self._word_ids = numpy.zeros(1024, numpy.int64)

    def tensors(self, sentences: list[list[str]]) -> dict[str, dict[str, torch.Tensor]]:
        """The tensors of a `TextField`, padded: shapes (batch, length, 50) and (batch, length)."""
        if len(self._places) > self._max_words:
            self._forget()
        places = numpy.zeros((len(sentences), max(map(len, sentences))), numpy.int64)
        for row, words in enumerate(sentences):
            places[row, : len(words)] = [self._place(word) for word in words]
        char_ids = torch.from_numpy(self._char_ids[places].astype(numpy.int64))
        word_ids = torch.from_numpy(self._word_ids[places])
        return {"elmo": {"elmo_tokens": char_ids}, "tokens": {"tokens": word_ids}}

    def _place(self, word: str) -> int:
        place = self._places.get(word)
        if place is None:
            place = self._places[word] = len(self._places) + 1
            if place == len(self._word_ids):
                self._char_ids = numpy.concatenate([self._char_ids, 0 * self._char_ids])
                self._word_ids = numpy.concatenate([self._word_ids, 0 * self._word_ids])
            self._char_ids[place] = self._mapper.convert_word_to_char_ids(word)
            self._word_ids[place] = self._vocab.get_token_index(word, self._namespace)
        return place

import numpy
import torch
from allennlp.data import TextFieldTensors, Vocabulary

from elmo_tasks.bilm.char_id_table import CharIdTable


class SentenceTensors:
    """
    Makes the tensors of a batch of sentences. They equal the tensors of `TextField`s with the
    indexers `elmo_characters` and `single_id`, but are made many times as fast.

    # Parameters

    vocab : `Vocabulary`
        Gives the word ids, from its namespace `tokens`.
    """

    def __init__(self, vocab: Vocabulary) -> None:
        self._char_ids = CharIdTable()
        self._word_ids = vocab.get_token_to_index_vocabulary("tokens")
        self._unknown = vocab.get_token_index(vocab._oov_token, "tokens")

    def __call__(self, sentences: list[list[str]]) -> TextFieldTensors:
        """Returns char ids of shape (batch, length, 50), and word ids of shape (batch, length)."""
        char_ids = self._char_ids.char_ids(sentences)
        word_ids = numpy.zeros(char_ids.shape[:2], numpy.int64)
        for row, words in zip(word_ids, sentences):
            row[: len(words)] = [self._word_ids.get(word, self._unknown) for word in words]
        return {
            "elmo": {"elmo_tokens": char_ids},
            "tokens": {"tokens": torch.from_numpy(word_ids)},
        }

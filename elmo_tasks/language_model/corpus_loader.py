import random
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from allennlp.common.util import lazy_groups_of
from allennlp.data import DataLoader, Instance, TextFieldTensors, Vocabulary
from allennlp.data.data_loaders import TensorDict
from allennlp.nn.util import move_to_device

from elmo_tasks.common.characters import batch_char_ids, num_characters
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN
from elmo_tasks.common.text_files import corpus_files
from elmo_tasks.readers.sentences import SentencesReader

# The tokens of a window, each with the token to predict after it.
Window = list[tuple[str, str]]


class CorpusLoader(DataLoader):
    """
    The base class of the data loaders of a language model. It makes batches of a text that is too
    large for memory. The order of the batches depends only on the seed and the epoch, so a
    recovered training run neither repeats nor skips a batch. If there are several processes, each
    reads the whole text, makes the same batches, and yields its share of each batch. A share of the
    last batches may be empty.

    # Parameters

    reader: The reader of the sentences.
    data_path: A path, an address or a glob pattern.
    shuffle: Whether each epoch has its own random order. Only the training text is shuffled.

    # Raises

    `FileNotFoundError`: There is no such text.
    """

    # Number of sentences that are in memory at a time, to be shuffled and sorted by length.
    chunk = 1 << 16

    def __init__(self, reader: SentencesReader, data_path: str, shuffle: bool = True) -> None:
        # A missing held-out text is noticed here, and not after the first epoch.
        reader.check(data_path)
        self.reader = reader
        self.data_path = data_path
        self.shuffle = shuffle
        self.seed = torch.initial_seed()
        self._epoch = 0
        self._progress = (0, 0)
        self._device = torch.device("cpu")

    def skip(self, epochs: int, batches: int) -> None:
        """
        Leaves out the epochs and batches that a recovered training run has finished. The first
        `epochs` epochs yield nothing, and the first `batches` batches of the next epoch are empty.
        """
        self._progress = (epochs, batches)

    def index_with(self, vocab: Vocabulary) -> None:
        self._vocab = vocab
        self._text_tensors = SentenceTensors(vocab)

    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    def iter_instances(self) -> Iterator[Instance]:
        """Yields an instance without fields for each sentence, to count words for a vocabulary."""
        is_empty = True
        for sentence in self.reader.sentences(self.data_path):
            is_empty = False
            yield _CountedSentence(sentence)
        if is_empty:
            raise ValueError(f"{self.data_path} has no word: expected a sentence on each line")

    def __iter__(self) -> Iterator[TensorDict]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        done_epochs, done_batches = self._progress
        if epoch < done_epochs:
            return
        if epoch > done_epochs:
            done_batches = 0
        order = random.Random(f"{self.seed}:{epoch}")
        num_batches = 0
        for num_batches, group in enumerate(self._groups(order), start=1):
            is_over = num_batches <= done_batches
            yield {} if is_over else move_to_device(self._tensors(group), self._device)
        if num_batches == 0:
            raise ValueError(
                f"{self.data_path} has too little text for one batch: expected a sentence on each "
                "line; use more text or smaller batches"
            )

    def _num_tokens(self) -> tuple[int, int]:
        """
        Returns the numbers of sentences and of tokens in an epoch, from the counts of the
        vocabulary. One boundary of each sentence counts as a token. Raises `TypeError` if there are
        no counts, as Python's `len` must.
        """
        num_sentences = getattr(self._vocab, "num_sentences", None)
        # The vocabulary counted only the training text, and only the training text is shuffled.
        if num_sentences is None or not self.shuffle:
            raise TypeError("the vocabulary does not say how much text there is")
        return num_sentences, self._vocab.num_tokens + num_sentences

    def _groups(self, order: random.Random) -> Iterator[Any]:
        """Yields this process's sentences of each batch, in the form that `_tensors` takes."""
        raise NotImplementedError

    def _tensors(self, group: Any) -> TensorDict:
        raise NotImplementedError

    def _sentences(self, order: random.Random) -> Iterator[list[str]]:
        """Yields the sentences of an epoch, boundaries included."""
        files = list(range(len(corpus_files(self.data_path))))
        if self.shuffle:
            order.shuffle(files)
        sentences = self.reader.sentences(self.data_path, files, False)
        for chunk in lazy_groups_of(sentences, self.chunk):
            if self.shuffle:
                order.shuffle(chunk)
            for words in chunk:
                yield [BEGIN_TOKEN, *words, END_TOKEN]


class _CountedSentence(Instance):
    def __init__(self, words: list[str]) -> None:
        super().__init__({})
        self._words = words

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        counts = counter["tokens"]
        for word in (BEGIN_TOKEN, *self._words, END_TOKEN):
            counts[word] += 1


class SentenceTensors:
    """
    Makes the tensors of a batch of sentences or windows. The tensors equal those of `TextField`s
    with the indexers `elmo_characters` and `single_id`, and are made many times as fast.

    # Parameters

    vocab: The vocabulary, whose namespace `tokens` has the word ids.
    """

    def __init__(self, vocab: Vocabulary) -> None:
        self._word_ids = vocab.get_token_to_index_vocabulary("tokens")
        self._unknown = vocab.get_token_index(vocab._oov_token, "tokens")

    def __call__(self, sentences: list[list[str]]) -> TextFieldTensors:
        """
        Returns char ids of shape (batch, length, 50) and word ids of shape (batch, length). A long
        word needs more than 50 char ids (see `num_characters`).
        """
        return {
            "elmo": {"elmo_tokens": batch_char_ids(sentences, num_characters(sentences))},
            "tokens": {"tokens": self._ids(sentences)},
        }

    def windows(self, windows: list[Window]) -> TextFieldTensors:
        """Returns char ids of the tokens to read, and as `targets` the word ids to predict."""
        words = [[word for word, _ in window] for window in windows]
        predicted = [[word for _, word in window] for window in windows]
        return {
            "elmo": {"elmo_tokens": batch_char_ids(words, num_characters(words))},
            "targets": {"tokens": self._ids(predicted)},
        }

    def _ids(self, sentences: list[list[str]]) -> torch.Tensor:
        # The id 0 is padding; no word has it.
        ids = numpy.zeros((len(sentences), max(map(len, sentences), default=0)), numpy.int64)
        for row, words in zip(ids, sentences):
            row[: len(words)] = [self._word_ids.get(word) or self._unknown for word in words]
        return torch.from_numpy(ids)

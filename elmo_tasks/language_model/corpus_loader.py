import logging
import math
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, Instance, Vocabulary
from allennlp.data.data_loaders import TensorDict
from allennlp.nn.util import move_to_device

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.char_id_table import CharIdTable
from elmo_tasks.readers.sentences import BEGIN_TOKEN, END_TOKEN, SentencesReader, corpus_files

logger = logging.getLogger(__name__)

# Sentences that are in memory at a time, to be shuffled and put beside others of their length.
_CHUNK = 1 << 16


class CorpusLoader(DataLoader):
    """
    Batches of a text too large for memory, in an order that follows from seed and epoch alone, so
    that a training which is recovered neither repeats nor skips. The base of the two loaders of a
    language model.

    # Parameters

    reader : `SentencesReader`
        Gives the sentences.
    data_path : `str`
        A path or a glob pattern.
    shuffle : `bool`, optional (default = `True`)
        Whether each epoch has an order of its own.
    """

    def __init__(self, reader: SentencesReader, data_path: str, shuffle: bool = True) -> None:
        if not isinstance(reader, SentencesReader):
            raise ConfigurationError("this data loader needs the dataset reader elmo_sentences")
        self.reader = reader
        self.data_path = data_path
        self.shuffle = shuffle
        self._seed = torch.initial_seed()
        self._epoch = 0
        self._done = (0, 0)
        self._device = torch.device("cpu")

    def skip(self, epochs: int, batches: int) -> None:
        """
        What is behind a training that is recovered: whole epochs, which are not read again, and
        batches of the next, for each of which an empty one is given.
        """
        self._done = (epochs, batches)

    def index_with(self, vocab: Vocabulary) -> None:
        self._vocab = vocab
        self._table = CharIdTable(vocab)

    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    def iter_instances(self) -> Iterator[Instance]:
        """One a sentence, for a vocabulary to count; they have no fields."""
        return map(_CountedSentence, self.reader.sentences(self.data_path))

    def __iter__(self) -> Iterator[TensorDict]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        done_epochs, done_batches = self._done
        if epoch < done_epochs:
            return
        if epoch > done_epochs:
            done_batches = 0
        order = random.Random(f"{self._seed}:{epoch}")
        number = 0
        for number, group in enumerate(self._groups(order), start=1):
            done = number <= done_batches
            yield {} if done else move_to_device(self._tensors(group), self._device)
        if number == 0:
            raise ValueError(f"{self.data_path} has too little text for one batch")

    def _groups(self, order: random.Random) -> Iterator[Any]:
        """What each batch is made of."""
        raise NotImplementedError

    def _tensors(self, group: Any) -> TensorDict:
        raise NotImplementedError

    def _sentences(self, order: random.Random) -> Iterator[list[str]]:
        """The sentences of an epoch, boundaries included; says if the text has changed."""
        files = list(range(len(corpus_files(self.data_path))))
        if self.shuffle:
            order.shuffle(files)
        sentences = self.reader.sentences(self.data_path, files)
        num_read = 0
        while chunk := list(islice(sentences, _CHUNK)):
            if self.shuffle:
                order.shuffle(chunk)
            num_read += len(chunk)
            for words in chunk:
                yield [BEGIN_TOKEN, *words, END_TOKEN]
        if num_read == 0:
            raise ValueError(f"{self.data_path} holds no sentence")
        num_counted = getattr(self._vocab, "num_sentences", None)
        # Only the whole text to train on is what the vocabulary was made of.
        if self.shuffle and num_counted not in (None, num_read) and not is_distributed():
            logger.warning(
                "%s has changed: it had %d sentences when the vocabulary was made of it, and has %d"
                " now. Words that are new are unknown to the softmax.",
                self.data_path,
                num_counted,
                num_read,
            )


@DataLoader.register("elmo_sentences")
class SentenceLoader(CorpusLoader):
    """
    Batches of whole sentences of like length, for a biLM trained sentence by sentence.

    Registered as a `DataLoader` with name "elmo_sentences".

    # Parameters

    batch_tokens : `int`, optional (default = `2048`)
        Tokens of a batch at most, each sentence with one boundary; a longer sentence is a batch of
        its own.
    """

    def __init__(
        self,
        reader: SentencesReader,
        data_path: str,
        batch_tokens: int = 2048,
        shuffle: bool = True,
    ) -> None:
        super().__init__(reader, data_path, shuffle)
        if batch_tokens < 1:
            raise ConfigurationError(f"batch_tokens must be at least 1, not {batch_tokens}")
        self.batch_tokens = batch_tokens

    def __len__(self) -> int:
        """Batches of an epoch, from the counts of the vocabulary: right to a few in a thousand."""
        num_sentences = getattr(self._vocab, "num_sentences", None)
        if num_sentences is None or not self.shuffle:
            raise TypeError("the vocabulary does not say how much text there is")
        num_tokens = self._vocab.num_tokens + num_sentences
        # A batch ends where the next sentence does not fit: half of one before it is full.
        mean = num_tokens / num_sentences
        return math.ceil(num_tokens / max(mean, self.batch_tokens - mean / 2))

    def _groups(self, order: random.Random) -> Iterator[list[list[str]]]:
        sentences = self._sentences(order)
        while chunk := list(islice(sentences, _CHUNK)):
            chunk.sort(key=len)
            batches = list(_batches(chunk, self.batch_tokens))
            if self.shuffle:
                order.shuffle(batches)
            yield from batches

    def _tensors(self, group: list[list[str]]) -> TensorDict:
        return {"tokens": self._table.tensors(group)}


@DataLoader.register("elmo_windows")
class WindowLoader(CorpusLoader):
    """
    Batches of windows of a running text, for a biLM that carries its state from one to the next,
    as the paper's (section 3.4 and bilm-tf): sentences lie end to end in each row, and a row goes
    on where the same row of the batch before ended. The backward direction reads another order of
    the sentences, each from its end.

    Registered as a `DataLoader` with name "elmo_windows".

    # Parameters

    rows : `int`, optional (default = `128`)
        Rows of a batch.
    length : `int`, optional (default = `20`)
        Tokens of a window.
    """

    def __init__(
        self,
        reader: SentencesReader,
        data_path: str,
        rows: int = 128,
        length: int = 20,
        shuffle: bool = True,
    ) -> None:
        super().__init__(reader, data_path, shuffle)
        if rows < 1 or length < 1:
            raise ConfigurationError(f"rows and length must be at least 1, not {rows} and {length}")
        self.rows, self.length = rows, length

    def __len__(self) -> int:
        num_sentences = getattr(self._vocab, "num_sentences", None)
        if num_sentences is None or not self.shuffle:
            raise TypeError("the vocabulary does not say how much text there is")
        return (self._vocab.num_tokens + 2 * num_sentences) // (self.rows * self.length)

    def _groups(self, order: random.Random) -> Iterator[tuple[list[list[str]], list[list[str]]]]:
        backward = random.Random(order.random())
        return zip(
            self._windows(self._sentences(order)),
            self._windows(words[::-1] for words in self._sentences(backward)),
        )

    def _windows(self, sentences: Iterator[list[str]]) -> Iterator[list[list[str]]]:
        """Of each row the window's tokens and the one after; the last, partial batch is dropped."""
        streams: list[list[str]] = [[] for _ in range(self.rows)]
        while True:
            for stream in streams:
                while len(stream) <= self.length:
                    words = next(sentences, None)
                    if words is None:
                        return
                    stream.extend(words)
            yield [stream[: self.length + 1] for stream in streams]
            for stream in streams:
                del stream[: self.length]

    def _tensors(self, group: tuple[list[list[str]], list[list[str]]]) -> TensorDict:
        forward, backward = group
        return {
            "tokens": self._table.tensors(forward),
            "backward_tokens": self._table.tensors(backward),
        }


def _batches(sentences: list[list[str]], batch_tokens: int) -> Iterator[list[list[str]]]:
    batch: list[list[str]] = []
    num_tokens = 0
    for words in sentences:
        # The boundary at the end is predicted and not read.
        if batch and num_tokens + len(words) - 1 > batch_tokens:
            yield batch
            batch, num_tokens = [], 0
        batch.append(words)
        num_tokens += len(words) - 1
    if batch:
        yield batch


class _CountedSentence(Instance):
    def __init__(self, words: list[str]) -> None:
        super().__init__({})
        self._words = words

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        counts = counter["tokens"]
        for word in (BEGIN_TOKEN, *self._words, END_TOKEN):
            counts[word] += 1

import math
import random
from collections.abc import Iterator
from itertools import pairwise

from allennlp.common.util import lazy_groups_of
from allennlp.data import DataLoader
from allennlp.data.data_loaders import TensorDict

from elmo_tasks.common.errors import check_positive
from elmo_tasks.common.processes import rank
from elmo_tasks.language_model.corpus_loader import CorpusLoader, Window
from elmo_tasks.readers.sentences import SentencesReader


@DataLoader.register("elmo_sentences")
class SentenceLoader(CorpusLoader):
    """
    Makes batches of sentences of similar length, for a biLM that reads each sentence by itself.

    Registered as a `DataLoader` with name "elmo_sentences".

    # Parameters

    batch_tokens: The most tokens in a process's batch. One boundary of each
        sentence counts as a token. A longer sentence is a batch of its own.
    """

    def __init__(
        self,
        reader: SentencesReader,
        data_path: str,
        batch_tokens: int = 2048,
        shuffle: bool = True,
    ) -> None:
        super().__init__(reader, data_path, shuffle)
        check_positive("batch_tokens", batch_tokens)
        self.batch_tokens = batch_tokens

    def __len__(self) -> int:
        """Estimates the number of batches in an epoch, with an error of a few in a thousand."""
        num_sentences, num_tokens = self._num_tokens()
        # A batch ends before the first sentence that does not fit, so on average it lacks the
        # tokens of half a sentence.
        mean = num_tokens / num_sentences
        return math.ceil(num_tokens / max(mean, self._all_tokens - mean / 2))

    def _groups(self, order: random.Random) -> Iterator[list[list[str]]]:
        index, count = rank()
        for chunk in lazy_groups_of(self._sentences(order), self.chunk):
            chunk.sort(key=len)
            batches = list(_batches(chunk, self._all_tokens))
            if self.shuffle:
                order.shuffle(batches)
            # Sentences are sorted by length, so all processes get about equally many tokens.
            yield from (batch[index::count] for batch in batches)

    @property
    def _all_tokens(self) -> int:
        """The most tokens in a batch of all processes together."""
        return self.batch_tokens * rank().num_processes

    def _tensors(self, group: list[list[str]]) -> TensorDict:
        return {"tokens": self._text_tensors(group)}


def _batches(sentences: list[list[str]], batch_tokens: int) -> Iterator[list[list[str]]]:
    batch: list[list[str]] = []
    num_tokens = 0
    for words in sentences:
        # The boundary at the end is predicted, but not read.
        if batch and num_tokens + len(words) - 1 > batch_tokens:
            yield batch
            batch, num_tokens = [], 0
        batch.append(words)
        num_tokens += len(words) - 1
    if batch:
        yield batch


@DataLoader.register("elmo_windows")
class WindowLoader(CorpusLoader):
    """
    Makes batches of windows of a running text, for a biLM that carries its state from batch to
    batch, as in the paper (section 3.4 and bilm-tf). Each row of a batch continues the text of the
    same row of the previous batch. The backward direction reads each sentence from its end and, in
    training, has its own order of sentences. As in bilm-tf, the boundary at which a direction
    enters a sentence is only read, and the boundary at the other end is only predicted. At the end
    of a shuffled text, a batch is left out if one of its rows is not full.

    Registered as a `DataLoader` with name "elmo_windows".

    # Parameters

    rows: Number of rows in a batch of a process.
    length: Number of tokens in a window.
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
        check_positive("rows", rows)
        check_positive("length", length)
        self.rows, self.length = rows, length

    def __len__(self) -> int:
        """Returns the number of batches in an epoch, from the counts of the vocabulary."""
        _, num_tokens = self._num_tokens()
        return num_tokens // (self.rows * rank().num_processes * self.length)

    def _groups(self, order: random.Random) -> Iterator[tuple[list[Window], list[Window]]]:
        backward = random.Random(order.random())
        return zip(
            self._windows(self._sentences(order)),
            self._windows(words[::-1] for words in self._sentences(backward)),
        )

    def _windows(self, sentences: Iterator[list[str]]) -> Iterator[list[Window]]:
        """Yields batches: a window for each row of this process."""
        index, count = rank()
        rows = range(index * self.rows, (index + 1) * self.rows)
        streams: dict[int, Window] = {row: [] for row in rows}
        # The numbers of tokens that wait in the rows of all processes.
        waiting = [0] * (count * self.rows)
        while True:
            for row, num_tokens in enumerate(waiting):
                while num_tokens < self.length and (words := next(sentences, None)) is not None:
                    num_tokens += len(words) - 1
                    if row in streams:
                        streams[row].extend(pairwise(words))
                waiting[row] = num_tokens
            # In a shuffled text, the sentences end at different places in the two directions. So
            # only full windows have the same shape in both directions.
            if not any(waiting) or (self.shuffle and min(waiting) < self.length):
                return
            yield [stream[: self.length] for stream in streams.values()]
            waiting = [max(0, num_tokens - self.length) for num_tokens in waiting]
            for stream in streams.values():
                del stream[: self.length]

    def _tensors(self, group: tuple[list[Window], list[Window]]) -> TensorDict:
        forward, backward = map(self._text_tensors.windows, group)
        return {"tokens": forward, "backward_tokens": backward}

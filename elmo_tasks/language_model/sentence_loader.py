import math
import random
from collections.abc import Iterator

from allennlp.data import DataLoader
from allennlp.data.data_loaders import TensorDict

from elmo_tasks.common.errors import check_at_least
from elmo_tasks.common.processes import rank
from elmo_tasks.language_model.corpus_loader import CorpusLoader, in_chunks
from elmo_tasks.readers.sentences import SentencesReader


@DataLoader.register("elmo_sentences")
class SentenceLoader(CorpusLoader):
    """
    Makes batches of sentences of similar length, for a biLM that reads each sentence by itself.

    Registered as a `DataLoader` with name "elmo_sentences".

    # Parameters

    batch_tokens (default `2048`): The most tokens in a batch of a process. One boundary of each
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
        check_at_least("batch_tokens", batch_tokens)
        self.batch_tokens = batch_tokens

    def __len__(self) -> int:
        """Estimates the number of batches in an epoch, to a few in a thousand."""
        num_sentences, num_tokens = self._num_tokens()
        # A batch ends before the first sentence that does not fit. On average, half a sentence is
        # missing.
        mean = num_tokens / num_sentences
        return math.ceil(num_tokens / max(mean, self._all_tokens - mean / 2))

    def _groups(self, order: random.Random) -> Iterator[list[list[str]]]:
        index, count = rank()
        for chunk in in_chunks(self._sentences(order)):
            chunk.sort(key=len)
            batches = list(_batches(chunk, self._all_tokens))
            if self.shuffle:
                order.shuffle(batches)
            # Sentences are sorted by length, so each process gets about as many tokens.
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

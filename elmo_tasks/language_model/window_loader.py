import random
from collections.abc import Iterator

from allennlp.data import DataLoader
from allennlp.data.data_loaders import TensorDict

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.corpus_loader import CorpusLoader
from elmo_tasks.readers.sentences import SentencesReader


@DataLoader.register("elmo_windows")
class WindowLoader(CorpusLoader):
    """
    Makes batches of windows of a running text, for a biLM that carries its state from batch to
    batch, as the paper's does (section 3.4 and bilm-tf). In each row the sentences follow one
    another, and a row goes on where the same row of the previous batch ended. The backward
    direction reads the sentences in another order, each from its end.

    Registered as a `DataLoader` with name "elmo_windows".

    # Parameters

    rows : `int`, optional (default = `128`)
        Number of rows in a batch.
    length : `int`, optional (default = `20`)
        Number of tokens in a window.
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
        """
        Returns the number of batches in an epoch, from the counts of the vocabulary. Raises
        `TypeError` if there are no counts.
        """
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
        """
        Yields batches of windows. A row has the tokens of its window and the token after them. The
        last batch is left out if it is not full.
        """
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
            "tokens": self._text_tensors(forward),
            "backward_tokens": self._text_tensors(backward),
        }

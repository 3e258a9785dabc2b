from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from allennlp.data import TextFieldTensors
from torch.nn.utils.rnn import pad_sequence

from elmo_tasks.common.batches import consecutive_batches
from elmo_tasks.readers.coref_json import Span


class DocumentRun(NamedTuple):
    """
    The consecutive sentences of a document that the model reads. `start` is the index of their
    first word in the document, `lengths` has the number of words of each sentence, and `speakers`
    the speaker of each word. The gold `clusters` have indices of words within the run.
    """

    start: int
    lengths: list[int]
    speakers: Sequence[str]
    clusters: list[list[Span]] | None

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sequence[str]],
        speakers: Sequence[str],
        clusters: list[list[Span]] | None,
    ) -> "DocumentRun":
        """Returns the whole document."""
        return cls(0, [len(sentence) for sentence in sentences], speakers, clusters)

    @property
    def stop(self) -> int:
        return self.start + sum(self.lengths)

    def part(self, first: int, last: int) -> "DocumentRun":
        """Returns sentences `first` to `last - 1`, and clusters with two or more mentions there."""
        start, stop = sum(self.lengths[:first]), sum(self.lengths[:last])
        clusters = None
        if self.clusters is not None:
            inside = [
                [(a - start, b - start) for a, b in cluster if start <= a and b <= stop]
                for cluster in self.clusters
            ]
            clusters = [cluster for cluster in inside if len(cluster) > 1]
        return DocumentRun(
            self.start + start, self.lengths[first:last], self.speakers[start:stop], clusters
        )

    def speaker_ids(self) -> list[int]:
        """Returns a number for each word. Words of the same speaker have the same number."""
        ids: dict[str, int] = {}
        return [ids.setdefault(speaker, len(ids)) for speaker in self.speakers]


def sentence_batches(
    tokens: TextFieldTensors, runs: Sequence[DocumentRun], max_tokens: int
) -> Iterator[TextFieldTensors]:
    """
    Yields the sentences of all runs in their order, in batches of at most `max_tokens` tokens,
    padding included. A longer sentence is a batch of its own. `tokens` has a row for each document,
    with all words of the document. Words outside its run are left out.
    """
    # Shape: (words of all runs, ...)
    words = {
        name: {
            key: torch.cat([row[run.start : run.stop] for row, run in zip(ids, runs)])
            for key, ids in tensors.items()
        }
        for name, tensors in tokens.items()
    }
    start = 0
    all_lengths = [length for run in runs for length in run.lengths]
    for lengths in consecutive_batches(all_lengths, max_tokens):
        stop = start + sum(lengths)
        # Shape: (sentences, length, ...)
        yield {
            name: {
                key: pad_sequence(ids[start:stop].split(lengths), batch_first=True)
                for key, ids in tensors.items()
            }
            for name, tensors in words.items()
        }
        start = stop

from collections.abc import Sequence
from typing import NamedTuple

from elmo_tasks.readers.coref_file import Span


class DocumentRun(NamedTuple):
    """
    The sentences of a document that are read.

    # Parameters

    start : `int`
        The index of the first word in the document.
    lengths : `list[int]`
        The number of words of each sentence.
    speakers : `Sequence[str]`
        The speaker of each word.
    clusters : `list[list[Span]]`, optional
        The right clusters, with indices of words in the run.
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
        """
        Returns the sentences `first` to `last - 1`, with the clusters of which two mentions or more
        lie in them.
        """
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

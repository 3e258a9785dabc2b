from typing import NamedTuple

import numpy
import torch
from allennlp.common import Tqdm
from allennlp.modules.token_embedders.embedding import EmbeddingsTextFile

from elmo_tasks.common.errors import ConfigurationError


class FileVectors(NamedTuple):
    """
    # Parameters

    words: The most frequent first.
    vectors: Shape (words, dim).
    """

    words: list[str]
    vectors: torch.Tensor

    def standardized(self, max_dim: int) -> "FileVectors":
        """Returns the vectors in at most `max_dim` dimensions of mean 0 and variance 1."""
        vectors = self.vectors - self.vectors.mean(dim=0)
        if vectors.size(1) > max_dim:
            # Shape: (dim, dim). The directions of the greatest variance come last.
            _, directions = torch.linalg.eigh(vectors.T @ vectors)
            vectors = vectors @ directions[:, -max_dim:]
        return FileVectors(self.words, vectors / vectors.std(dim=0).clamp(min=1e-6))


def read_word_vectors(path: str, max_words: int) -> FileVectors:
    """Reads the first words of a file and their vectors. Skips lines of another width."""
    words: dict[str, numpy.ndarray] = {}
    dim = None
    with EmbeddingsTextFile(path) as lines:
        for line in Tqdm.tqdm(lines, desc=f"reading {path}"):
            word, _, numbers = line.partition(" ")
            fields = numbers.split()
            dim = dim or len(fields)
            if len(fields) == dim:
                words[word] = numpy.array(fields, dtype=numpy.float32)
            if len(words) == max_words:
                break
    if len(words) < 2 or not dim:
        raise ConfigurationError(
            f"{path} has no word vectors: expected a word and its numbers on each line"
        )
    return FileVectors(list(words), torch.from_numpy(numpy.stack(list(words.values()))))

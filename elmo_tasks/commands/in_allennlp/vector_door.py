"""
Lets AllenNLP's `embedding` and vocabulary read files of vectors by `read_vectors` of this package.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy
import torch
from allennlp.data import Vocabulary, vocabulary
from allennlp.modules.token_embedders import embedding

from elmo_tasks.common.replaced import replaced
from elmo_tasks.common.vector_files import check_words, read_vectors, vector_words


@contextmanager
def vectors_read_by_us() -> Iterator[None]:
    """
    Lets AllenNLP read text files of vectors by `read_vectors` while the block runs. AllenNLP's own
    function raises `StopIteration` for an empty file, and leaves out lines with tabs or too few
    numbers.
    """
    with (
        replaced(vocabulary, _read_pretrained_tokens=vector_words),
        replaced(embedding, _read_embeddings_from_text_file=_embedding_weight),
    ):
        yield


def _embedding_weight(
    path: str, dim: int, vocab: Vocabulary, namespace: str = "tokens"
) -> torch.Tensor:
    """
    Returns a row for each word: its vector in the file or, as in AllenNLP, a random vector of the
    same scale.
    """
    words = vocab.get_index_to_token_vocabulary(namespace)
    vectors = read_vectors(path, dim, set(words.values()))
    counts = (vocab._retained_counter or {}).get(namespace)
    check_words(path, vectors, counts or words.values())
    matrix = numpy.stack(list(vectors.values()))
    weight = torch.empty(len(words), dim).normal_(float(matrix.mean()), float(matrix.std()))
    for index, word in words.items():
        if word in vectors:
            weight[index] = torch.from_numpy(vectors[word])
    return weight

import os
from collections import Counter
from collections.abc import Iterable
from itertools import chain, tee
from pathlib import Path

import numpy
import torch
from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed.parts import vectors


def embed_words(
    lines: Iterable[str],
    output_file: str | os.PathLike,
    encoder: ElmoEncoder,
    embedding: str,
    num_words: int,
) -> None:
    """
    Writes one vector for each of the most frequent words of a text, the most frequent first: the
    mean over the word's occurrences. The file has the text format of word2vec, which Gensim and
    other tools read, and appears when it is whole. Raises `ConfigurationError` if the text has no
    word.

    # Parameters

    lines: The sentences, each as tokens with a blank between them. They are read twice.
    embedding: The `top` layer, the `average` of all layers, or the encoder's `mix`.
    num_words: The number of words, 1 or more.
    """
    counts = Counter(chain.from_iterable(map(str.split, lines)))
    if not counts:
        raise ConfigurationError("the text is empty: there is nothing to embed")
    # Equally frequent words are in alphabetical order.
    words = sorted(counts, key=lambda word: (-counts[word], word))[:num_words]
    with tqdm(unit=" tokens", desc="embedding", total=counts.total()) as progress:
        means = _means(words, map(str.split, lines), encoder, embedding, progress)
    with atomic_write(output_file) as aside, open(aside, "w", encoding="utf-8") as file:
        file.write("{} {}\n".format(*means.shape))
        for word, mean in zip(words, means):
            file.write(f"{word} {' '.join(map(str, mean))}\n")
    size = Path(output_file).stat().st_size / 1e6
    print(
        f"Wrote {output_file}: {len(words):,} words, {means.shape[1]} numbers each, {size:.1f} MB."
    )


def _means(
    words: list[str],
    sentences: Iterable[list[str]],
    encoder: ElmoEncoder,
    embedding: str,
    progress: tqdm,
) -> numpy.ndarray:
    rows = {word: row for row, word in enumerate(words)}
    dim = encoder.get_output_dim() if embedding == "mix" else encoder.bilm.get_output_dim()
    sums = torch.zeros(len(words), dim, dtype=torch.float64)
    numbers = torch.zeros(len(words), 1, dtype=torch.float64)
    sentences, read = tee(sentences)
    for sentence, layers in zip(sentences, encoder.layers(read, progress)):
        of_tokens = vectors(layers, embedding, encoder.mix)
        places = [place for place, word in enumerate(sentence) if word in rows]
        found = torch.tensor([rows[sentence[place]] for place in places], dtype=torch.long)
        sums.index_add_(0, found, of_tokens[places].double())
        numbers.index_add_(0, found, torch.ones(len(found), 1, dtype=torch.float64))
    return (sums / numbers).float().numpy()

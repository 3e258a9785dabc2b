import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import tee
from pathlib import Path

import numpy
import torch
from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError, check_at_least
from elmo_tasks.common.files import atomic_write
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed.parts import vectors

# The number of words that are written by default.
NUM_WORDS = 50_000

# While words are counted, at most this many (100 MB) or 20 times `num_words` are in memory; the
# rarest words are then dropped, as in word2vec.
_MAX_COUNTED = 10**6


def embed_words(
    lines: Callable[[], Iterator[str]],
    output_file: str | os.PathLike,
    encoder: ElmoEncoder,
    embedding: str = "average",
    format: str = "text",
    num_words: int = NUM_WORDS,
) -> None:
    """
    Writes one vector for each of the most frequent words of a text, the most frequent first: the
    mean over the word's occurrences. Memory is bounded by the number of words that are written. The
    file, which Gensim and other tools read, appears when it is whole. Raises `ConfigurationError`
    if the text is empty.

    # Parameters

    lines: Yields the sentences, each as tokens with a blank between them. It is called twice.
    embedding (default `'average'`): The `token` layer, which is the same in all sentences and has
        half the width; the `top` layer; the `average` of all layers; or the encoder's `mix`.
    format (default `'text'`): `text`, a line for each word; or `binary`, float32 after each word.
    num_words (default `50_000`): The number of words.
    """
    check_at_least("the number of words", num_words)
    with tqdm(unit=" tokens", desc="counting") as progress:
        words = _most_frequent(map(str.split, lines()), num_words, progress)
    if not words:
        raise ConfigurationError("the text is empty: there is nothing to embed")
    # The token layer does not depend on the sentence.
    of_words = ([word] for word in words)
    sentences = of_words if embedding == "token" else map(str.split, lines())
    with tqdm(unit=" tokens", desc="embedding") as progress:
        means = _means(words, sentences, encoder, embedding, progress)
    with atomic_write(output_file) as aside:
        _write(aside, words, means, format)
    size = Path(output_file).stat().st_size / 1e6
    print(
        f"Wrote {output_file}: {len(words):,} words, {means.shape[1]} numbers each, {size:.1f} MB."
    )


def _most_frequent(sentences: Iterable[list[str]], num_words: int, progress: tqdm) -> list[str]:
    counts: Counter[str] = Counter()
    least = 0
    for words in sentences:
        counts.update(words)
        progress.update(len(words))
        if len(counts) > max(_MAX_COUNTED, 20 * num_words):
            least += 1
            counts = Counter({word: count for word, count in counts.items() if count > least})
    # Equally frequent words are in alphabetical order.
    return sorted(counts, key=lambda word: (-counts[word], word))[:num_words]


def _means(
    words: list[str],
    sentences: Iterable[list[str]],
    encoder: ElmoEncoder,
    embedding: str,
    progress: tqdm,
) -> numpy.ndarray:
    rows = {word: row for row, word in enumerate(words)}
    needed, read = tee(sentence for sentence in sentences if not rows.keys().isdisjoint(sentence))
    numbers = torch.zeros(len(words), 1, dtype=torch.float64)
    sums: torch.Tensor | None = None
    for sentence, layers in zip(needed, encoder.layers(read, progress)):
        if embedding == "token":
            # Layer 0 has the token layer twice.
            of_tokens = layers[0].chunk(2, dim=1)[0]
        else:
            of_tokens = vectors(layers, embedding, encoder.mix)
        if sums is None:
            sums = torch.zeros(len(words), of_tokens.size(1), dtype=torch.float64)
        places = [place for place, word in enumerate(sentence) if word in rows]
        found = torch.tensor([rows[sentence[place]] for place in places])
        sums.index_add_(0, found, of_tokens[places].double())
        numbers.index_add_(0, found, torch.ones(len(found), 1, dtype=torch.float64))
    assert sums is not None
    return (sums / numbers).float().numpy()


def _write(path: Path, words: list[str], means: numpy.ndarray, format: str) -> None:
    with open(path, "wb") as file:
        file.write(b"%d %d\n" % means.shape)
        for word, mean in zip(words, means):
            if format == "binary":
                numbers = mean.astype("<f4").tobytes()
            else:
                numbers = " ".join(map(str, mean)).encode()
            file.write(word.encode() + b" " + numbers + b"\n")

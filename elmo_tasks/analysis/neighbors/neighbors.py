from collections.abc import Sequence

import torch
from torch.nn.functional import normalize
from tqdm import tqdm

from elmo_tasks.analysis.neighbors.occurrences import Corpus, Occurrence, find, search
from elmo_tasks.analysis.neighbors.report import NeighborsReport
from elmo_tasks.analysis.neighbors.vectors import (
    cluster,
    rank,
    similar_words,
    similar_words_of_file,
)
from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.sentence_layers import SentenceLayers


def neighbors(
    sentence_layers: SentenceLayers,
    bilm: str,
    word: str,
    text: str,
    *,
    sentence: str | None = None,
    num_clusters: int = 2,
    layer: int | None = None,
    ignore_case: bool = False,
    max_occurrences: int = 1000,
    max_words: int = 20_000,
    num_similar: int = 8,
    word_vectors: str | None = None,
    seed: int = 0,
) -> NeighborsReport:
    """
    Clusters the occurrences of a word in a text by their vectors, or ranks them by their cosine to
    an occurrence of the word in a given sentence.

    # Parameters

    bilm: The name of the biLM in the report.
    word: One token.
    text: A path or glob pattern of tokenized text, one sentence a line.
    sentence: A tokenized sentence that contains the word. If it is given, the occurrences are not
        clustered, but ranked by their cosine to the first occurrence in this sentence.
    num_clusters (default `2`)
    layer: The layer whose vectors are compared; 0 is the token layer. By default the top layer.
    ignore_case (default `False`): Whether `Bank` is an occurrence of `bank`.
    max_occurrences (default `1000`): If there are more occurrences, this many are chosen at random.
    max_words (default `20_000`): The number of words that are compared in layer 0: the most
        frequent words of the text.
    num_similar (default `8`): The number of nearest words in layer 0.
    word_vectors: A file of word vectors such as GloVe's, whose nearest words are reported as well,
        as in the paper's Table 4. Its first `max_words` words are compared.
    seed (default `0`): The seed of the draw and of the clusters.
    """
    layer = _checked_layer(layer, sentence_layers.bilm.num_layers)
    wanted = None if sentence is None else find(word, sentence, ignore_case)
    corpus = search(text, word, max_occurrences, ignore_case, seed)
    if not corpus.occurrences:
        raise ConfigurationError(_nothing_found(word, text, corpus))
    # An occurrence is not compared with itself.
    others = [occurrence for occurrence in corpus.occurrences if occurrence != wanted]
    if not others:
        raise ConfigurationError(f"in {text}, {word!r} occurs only in the given sentence")
    corpus = corpus._replace(occurrences=others)
    vectors = _vectors(sentence_layers, layer, corpus.occurrences)
    frequent = [other for other, _ in corpus.counts.most_common(max_words)]
    report = NeighborsReport(
        word=word,
        layer=layer_name(layer),
        bilm=bilm,
        text=text,
        corpus=corpus,
        vectors=vectors,
        groups=[],
        similar=similar_words(sentence_layers.bilm, word, frequent, num_similar),
        similar_in_file=None
        if word_vectors is None
        else similar_words_of_file(word_vectors, word, max_words, num_similar),
    )
    if wanted is None:
        return report._replace(groups=cluster(vectors, num_clusters, seed))
    (vector,) = _vectors(sentence_layers, layer, [wanted])
    return report._replace(groups=[rank(vectors, vector)], wanted=(wanted, vector))


def _checked_layer(layer: int | None, num_layers: int) -> int:
    if layer is None:
        return num_layers - 1
    if not 0 <= layer < num_layers:
        raise ConfigurationError(f"--layer must be from 0 to {num_layers - 1}, not {layer}")
    return layer


def _vectors(
    sentence_layers: SentenceLayers, layer: int, occurrences: Sequence[Occurrence]
) -> torch.Tensor:
    """Returns the vector of each occurrence, scaled to length 1: shape (occurrences, dim)."""
    sentences = tqdm([occurrence.words for occurrence in occurrences], desc="embedding")
    found = zip(sentence_layers(sentences), occurrences)
    # A vector is copied, because a view would keep the layers of its whole sentence in memory.
    vectors = [layers[layer, occurrence.position].clone() for layers, occurrence in found]
    return normalize(torch.stack(vectors))


def _nothing_found(word: str, text: str, corpus: Corpus) -> str:
    message = f"{word!r} never occurs in {text}, which has {corpus.num_sentences:,} sentences"
    forms = ", ".join(
        f"{other} ({count})"
        for other, count in corpus.counts.items()
        if other.casefold() == word.casefold()
    )
    if forms:
        return f"{message}; but {forms} does: use --ignore-case to find it"
    if len(word.split()) != 1:
        return f"{message}; give one token, without blanks"
    return message

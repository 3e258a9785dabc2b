from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn.functional import normalize
from tqdm import tqdm

from elmo_tasks.analysis.neighbors.occurrences import (
    Occurrence,
    Occurrences,
    Split,
    cluster,
    principal_plane,
    rank,
    search,
    similar_words,
    similar_words_of_file,
)
from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.sentence_layers import SentenceLayers

# If there are more occurrences, this many are chosen at random.
_MAX_OCCURRENCES = 1000
# The number of words that are compared in layer 0 and in a file of word vectors.
_MAX_WORDS = 20_000
# The number of other forms of the word that are named.
_MAX_FORMS = 8


def neighbors(
    sentence_layers: SentenceLayers,
    bilm: str,
    word: str,
    text: str,
    *,
    sentence: str | None = None,
    num_clusters: int = 2,
    layer: int | None = None,
    num_similar: int = 8,
    word_vectors: str | None = None,
    split: Split | None = None,
) -> dict[str, Any]:
    """
    Clusters the occurrences of a word in a text by their vectors, or ranks them by their cosine to
    an occurrence of the word in a given sentence. Returns a report as JSON.

    # Parameters

    bilm: The name of the biLM, for the report.
    word: One token.
    text: A path or glob pattern of text. Without `split`, each line is one tokenized sentence.
    sentence: A tokenized sentence that contains the word. If it is given, the occurrences are not
        clustered, but ranked by their cosine to the first occurrence in this sentence.
    layer: The layer whose vectors are compared; 0 is the token layer. By default the top layer.
    num_similar: The number of nearest words in layer 0, among the 20,000 most
        frequent words of the text.
    word_vectors: A file of word vectors such as GloVe's. The report then also has the nearest words
        among the first 20,000 words of the file, as in the paper's Table 4.
    split: Cuts a line of raw text into tokenized sentences.
    """
    num_layers = sentence_layers.bilm.num_layers
    layer = num_layers - 1 if layer is None else layer
    if not 0 <= layer < num_layers:
        raise ConfigurationError(f"--layer must be from 0 to {num_layers - 1}, not {layer}")
    target = None
    if sentence is not None:
        words = sentence.split()
        if word not in words:
            raise ConfigurationError(
                f"--sentence must contain the token {word!r}, between blanks, but is {sentence!r}"
            )
        target = Occurrence(words, words.index(word))
    corpus = search(text, word, _MAX_OCCURRENCES, split=split)
    if not corpus.occurrences:
        raise ConfigurationError(
            f"{word!r} never occurs in {text}, which has {corpus.num_sentences:,} sentences"
            f"{_other_forms(corpus)}; give one token, spelt as in the text, and --split if it is "
            "raw"
        )
    # An occurrence is not compared with itself.
    occurrences = [occurrence for occurrence in corpus.occurrences if occurrence != target]
    if not occurrences:
        raise ConfigurationError(f"in {text}, {word!r} occurs only in the given sentence")
    vectors = _vectors(sentence_layers, layer, occurrences)
    if target is None:
        groups = cluster(vectors, num_clusters)
    else:
        (centre,) = _vectors(sentence_layers, layer, [target])
        groups = [rank(vectors, range(len(vectors)), centre)]
    points = principal_plane(vectors)
    frequent = [frequent_word for frequent_word, _ in corpus.counts.most_common(_MAX_WORDS)]
    similar = similar_words(sentence_layers.bilm, word, frequent, num_similar)
    in_file: list[tuple[str, float]] = []
    if word_vectors is not None:
        in_file = similar_words_of_file(word_vectors, word, _MAX_WORDS, num_similar)
    return {
        "word": word,
        "layer": layer_name(layer),
        "bilm": bilm,
        "text": text,
        "num_sentences": corpus.num_sentences,
        "num_occurrences": corpus.num_occurrences,
        "num_sentences_of_other_forms": corpus.num_others,
        "other_forms": dict(corpus.forms.most_common(_MAX_FORMS)),
        "beside": None if target is None else {"words": target.words, "position": target.position},
        # The clusters, or one group of all occurrences if they are ranked.
        "groups": [
            [
                {
                    "cosine": cosine,
                    "words": occurrences[member].words,
                    "position": occurrences[member].position,
                    "point": points[member].tolist(),
                }
                for member, cosine in group
            ]
            for group in groups
        ],
        "nearest_words_of_layer_0": _as_dicts(similar),
        "nearest_words_of_file": _as_dicts(in_file),
    }


def title(report: dict[str, Any]) -> str:
    num_found, num_shown = report["num_occurrences"], sum(map(len, report["groups"]))
    part = f"{num_found:,}" if num_shown == num_found else f"{num_shown:,} of {num_found:,}"
    about = f"occurrences of {report['word']}, compared in layer {report['layer']}"
    return f"{part} {about} of {report['bilm']}"


def text_of(report: dict[str, Any], max_lines: int) -> str:
    """Returns a report as text, with at most `max_lines` occurrences in each section."""
    lines = [f"{title(report)}; {report['num_sentences']:,} sentences of {report['text']}"]
    if num_others := report["num_sentences_of_other_forms"]:
        forms = _form_counts(report["other_forms"])
        lines.append(f"Not among them: {num_others:,} sentences with {forms}.")
    if report["beside"] is not None:
        lines += ["", f"Compared with: {' '.join(report['beside']['words'])}"]
    for heading, group in _sections(report, max_lines):
        lines += ["", f"{heading}:"]
        for neighbor in group:
            line = Occurrence(neighbor["words"], neighbor["position"]).line()
            lines.append(f"{neighbor['cosine']:6.3f} {line}")
    lines.append("")
    similar = _words_with_cosines(report["nearest_words_of_layer_0"])
    lines.append(f"Nearest words in layer 0, which ignores the context: {similar}.")
    if in_file := report["nearest_words_of_file"]:
        lines.append(f"Nearest words in the word vectors: {_words_with_cosines(in_file)}.")
    return "\n".join(lines)


def _other_forms(corpus: Occurrences) -> str:
    forms = _form_counts(dict(corpus.forms.most_common(_MAX_FORMS)))
    return f", but {corpus.num_others:,} of them have {forms}" if corpus.num_others else ""


def _form_counts(forms: dict[str, int]) -> str:
    return ", ".join(f"{form} ({number:,})" for form, number in forms.items())


def _sections(report: dict[str, Any], max_lines: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """
    Yields a heading and the occurrences below it. There is a section for each cluster, with its
    most typical occurrences. Ranked occurrences have two sections, the nearest and the furthest.
    """
    if report["beside"] is None:
        for k, group in enumerate(report["groups"], start=1):
            heading = f"Cluster {k}, {len(group):,} occurrences, the most typical first"
            yield heading, group[:max_lines]
        return
    (nearest,) = report["groups"]
    yield "The nearest", nearest[:max_lines]
    if furthest := nearest[max_lines:][-max_lines:]:
        yield "The furthest", furthest


def _words_with_cosines(similar: Sequence[dict[str, Any]]) -> str:
    return (
        ", ".join(f"{neighbor['word']} {neighbor['cosine']:.2f}" for neighbor in similar) or "none"
    )


def _vectors(
    sentence_layers: SentenceLayers, layer: int, occurrences: Sequence[Occurrence]
) -> torch.Tensor:
    """Returns the vector of each occurrence, scaled to length 1: shape (occurrences, dim)."""
    sentences = tqdm([occurrence.words for occurrence in occurrences], desc="embedding")
    pairs = zip(sentence_layers.of_tokens(sentences), occurrences)
    # A vector is copied, because a view would keep the layers of its whole sentence in memory.
    vectors = [layers[layer, occurrence.position].clone() for layers, occurrence in pairs]
    return normalize(torch.stack(vectors))


def _as_dicts(similar: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"word": word, "cosine": cosine} for word, cosine in similar]

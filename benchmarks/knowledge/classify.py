"""Classification of texts of several kinds: logistic regression on the mean vector of a text."""

import csv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.knowledge.glove import read_glove
from benchmarks.knowledge.layers import MEAN, Rows, mean_vectors, views
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

LABELS = (100, 500, 2000)
DRAWS = 5
# Powers of ten that are best from 200 labels on, for TF-IDF and for means of vectors.
WORDS_C, MEANS_C = 10, 0.01
_SEED = 0

# The texts and the label of each.
Labelled = tuple[list[str], list[str]]
# From the rows of a draw and those of the unseen texts to the features of both.
Features = Callable[[numpy.ndarray, numpy.ndarray], tuple[Any, Any]]


class Kind(NamedTuple):
    """
    A kind of text.

    # Parameters

    read: Returns the texts in the folder of the data.
    num_unseen: The number of texts that no classifier is trained on.
    """

    read: Callable[[Path], Labelled]
    num_unseen: int


def measure(encoder: ElmoEncoder, data: Path) -> Rows:
    rows: Rows = {}
    for kind in KINDS:
        texts, labels = shuffle(KINDS[kind].read(data))
        vectors = mean_vectors(encoder, tokenize(texts))
        for name, features in views(vectors).items():
            rows |= _rows(kind, name, labels, of_vectors(features.numpy()))
        words, mean = of_words(texts), of_vectors(views(vectors)[MEAN].numpy())
        rows |= _rows(kind, f"TF-IDF beside {MEAN}", labels, _beside(words, mean))
        rows |= _rows(kind, f"TF-IDF and {MEAN}, mean probability", labels, words, mean)
    return rows | _means(rows)


def baselines(data: Path) -> Rows:
    glove = read_glove(data)
    rows: Rows = {}
    for kind in KINDS:
        texts, labels = shuffle(KINDS[kind].read(data))
        mean = numpy.stack([glove.mean(words) for words in tokenize(texts)])
        rows |= _rows(kind, "TF-IDF", labels, of_words(texts))
        rows |= _rows(kind, "mean of GloVe", labels, of_vectors(mean))
    return rows | _means(rows)


def read_film_reviews(data: Path) -> Labelled:
    texts: list[str] = []
    labels: list[str] = []
    for suffix in ("neg", "pos"):
        path = data / f"movie-reviews/rt-polarity.no-sst-eval.{suffix}"
        lines = path.read_text(encoding="utf-8").splitlines()
        texts += [line for line in lines if line.strip()]
        labels += [suffix] * (len(texts) - len(labels))
    return texts, labels


def read_whole_reviews(data: Path) -> Labelled:
    texts, labels = _table("movie-reviews/imdb_cad_orig_train.tsv", csv.QUOTE_MINIMAL, data)
    # The first line has the names of the columns.
    return [text.replace("<br />", " ") for text in texts[1:]], labels[1:]


def _table(name: str, quoting: Any, data: Path) -> Labelled:
    """Reads a file with a label, a tab and a text on each line. Leaves out empty texts."""
    with (data / name).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t", quoting=quoting) if row[1].strip()]
    return [text for _, text in rows], [label for label, _ in rows]


KINDS = {
    "film reviews": Kind(read_film_reviews, 2000),
    "customer reviews": Kind(partial(_table, "classify/cr.tsv", csv.QUOTE_NONE), 1700),
    "questions": Kind(partial(_table, "classify/trec.train.tsv", csv.QUOTE_NONE), 2000),
    "whole film reviews": Kind(read_whole_reviews, 1000),
}

# The kinds of sentences, whose mean decides between biLMs.
SENTENCES = ("film reviews", "customer reviews", "questions")


def shuffle(labelled: Labelled) -> tuple[list[str], numpy.ndarray]:
    """Returns the texts and labels in a fixed random order."""
    texts, labels = labelled
    order = numpy.random.default_rng(_SEED).permutation(len(texts))
    return [texts[index] for index in order], numpy.array(labels)[order]


def tokenize(texts: list[str]) -> Iterator[list[str]]:
    tokenizer = ElmoSpacyTokenizer()
    for text in texts:
        yield [token.text for token in tokenizer.tokenize(text)]


def _rows(kind: str, name: str, labels: numpy.ndarray, *several: Features) -> Rows:
    """Returns the accuracies for each number of labels that there are enough texts for."""
    num_unseen = KINDS[kind].num_unseen
    return {
        f"{kind}, {num_labels:,} labels: {name}": accuracies(
            labels, num_unseen, num_labels, *several
        )
        for num_labels in LABELS
        if num_labels <= len(labels) - num_unseen
    }


def accuracies(
    labels: numpy.ndarray, num_unseen: int, num_labels: int, *several: Features
) -> list[float]:
    """
    Returns the accuracy on the first texts, which no classifier was trained on, for each draw of
    labels from the other texts. Of several kinds of features, each has its classifier, and the mean
    of their probabilities decides.
    """
    unseen = numpy.arange(num_unseen)
    scores = []
    for draw in range(DRAWS):
        random = numpy.random.default_rng(draw)
        rows = num_unseen + random.permutation(len(labels) - num_unseen)[:num_labels]
        probabilities = sum(
            _probabilities(*features(rows, unseen), labels[rows]) for features in several
        )
        answers = numpy.unique(labels[rows])[numpy.argmax(probabilities, axis=1)]
        scores.append(100 * float((answers == labels[unseen]).mean()))
    return scores


def _probabilities(features: Any, unseen: Any, labels: numpy.ndarray) -> numpy.ndarray:
    return LogisticRegression(max_iter=1000).fit(features, labels).predict_proba(unseen)


def of_words(texts: list[str]) -> Features:
    def features(rows: numpy.ndarray, unseen: numpy.ndarray) -> tuple[Any, Any]:
        vectorizer = TfidfVectorizer()
        drawn_features = vectorizer.fit_transform([texts[row] for row in rows])
        # Features that are scaled by the root of C are regularized as with that C.
        scale = WORDS_C**0.5
        return scale * drawn_features, scale * vectorizer.transform([texts[row] for row in unseen])

    return features


def of_vectors(vectors: numpy.ndarray) -> Features:
    def features(rows: numpy.ndarray, unseen: numpy.ndarray) -> tuple[Any, Any]:
        scaler = StandardScaler().fit(vectors[rows])
        scale = MEANS_C**0.5
        return scale * scaler.transform(vectors[rows]), scale * scaler.transform(vectors[unseen])

    return features


def _beside(*several: Features) -> Features:
    """Returns features side by side, for one classifier."""

    def features(rows: numpy.ndarray, unseen: numpy.ndarray) -> tuple[Any, Any]:
        drawn_parts, unseen_parts = zip(*(features_of(rows, unseen) for features_of in several))
        return hstack(drawn_parts).tocsr(), hstack(unseen_parts).tocsr()

    return features


def _means(rows: Rows) -> Rows:
    """Returns the means over the kinds of sentences, draw by draw."""
    means: Rows = {}
    first = SENTENCES[0]
    for row in [row for row in rows if row.startswith(f"{first}, ")]:
        same = [rows.get(row.replace(first, kind, 1)) for kind in SENTENCES]
        if all(same):
            means[row.replace(first, "mean of the three", 1)] = [
                sum(draws) / len(SENTENCES) for draws in zip(*same)
            ]
    return means

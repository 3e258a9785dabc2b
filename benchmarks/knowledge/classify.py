"""Sentence classification: logistic regression on the mean vector of a sentence."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.knowledge.glove import read_glove
from benchmarks.knowledge.layers import MEAN, mean_vectors, views
from benchmarks.knowledge.results import Rows
from elmo_tasks.encoder import ElmoEncoder
from elmo_tasks.readers.spacy_tokenizer import ElmoSpacyTokenizer

LABELS = (100, 500, 2000)
DRAWS = 5
NUM_UNSEEN = 2000
# Powers of ten that are best from 200 labels on, for TF-IDF and for means of vectors.
WORDS_C, MEANS_C = 10, 0.01
_SEED = 0


def measure(encoder: ElmoEncoder, data: Path) -> Rows:
    texts, labels = read_reviews(data)
    vectors = mean_vectors(encoder, tokenized(texts))
    rows: Rows = {}
    for name, features in views(vectors).items():
        rows |= _rows(name, [features.numpy()], labels)
    mean = views(vectors)[MEAN].numpy()
    return rows | _rows(f"TF-IDF and {MEAN}", [numpy.array(texts), mean], labels)


def baselines(data: Path) -> Rows:
    texts, labels = read_reviews(data)
    glove = read_glove(data)
    mean = numpy.stack([glove.mean(words) for words in tokenized(texts)])
    words = numpy.array(texts)
    return {**_rows("TF-IDF", [words], labels), **_rows("mean of GloVe", [mean], labels)}


def read_reviews(data: Path) -> tuple[list[str], numpy.ndarray]:
    """Returns the sentences of film reviews in a fixed random order, and whether each is kind."""
    texts: list[str] = []
    labels: list[int] = []
    for label, suffix in enumerate(("neg", "pos")):
        path = data / f"movie-reviews/rt-polarity.no-sst-eval.{suffix}"
        lines = path.read_text(encoding="utf-8").splitlines()
        texts += [line for line in lines if line.strip()]
        labels += [label] * (len(texts) - len(labels))
    order = numpy.random.default_rng(_SEED).permutation(len(texts))
    return [texts[index] for index in order], numpy.array(labels)[order]


def tokenized(texts: list[str]) -> Iterator[list[str]]:
    tokenizer = ElmoSpacyTokenizer()
    for text in texts:
        yield [token.text for token in tokenizer.tokenize(text)]


def _rows(name: str, several: list[numpy.ndarray], labels: numpy.ndarray) -> Rows:
    """
    Returns the accuracy on the first sentences, which no classifier was trained on, for each number
    of labels and each draw of them from the other sentences. Of several kinds of features, each has
    its classifier, and the mean of their probabilities decides.
    """
    unseen = slice(NUM_UNSEEN)
    rows: Rows = {}
    for num_labels in LABELS:
        scores = []
        for draw in range(DRAWS):
            random = numpy.random.default_rng(draw)
            drawn = NUM_UNSEEN + random.permutation(len(labels) - NUM_UNSEEN)[:num_labels]
            kind = sum(
                _classifier(features)
                .fit(features[drawn], labels[drawn])
                .predict_proba(features[unseen])[:, 1]
                for features in several
            )
            scores.append(100 * float(((kind > len(several) / 2) == labels[unseen]).mean()))
        rows[f"film reviews, {num_labels:,} labels: {name}"] = scores
    return rows


def _classifier(features: numpy.ndarray) -> Any:
    if features.ndim == 1:
        return make_pipeline(TfidfVectorizer(), LogisticRegression(C=WORDS_C))
    return make_pipeline(StandardScaler(), LogisticRegression(C=MEANS_C, max_iter=1000))

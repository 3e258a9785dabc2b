"""
Measures how much better reading times are predicted with the bits (surprisal) of a language model.

    python -m benchmarks.reading_times natural_stories.tsv --bilm base --chart reading_times.png

The data are a table with a row for each word, in the order of the text: `story`, `word` with the
punctuation glued to it, and `mean_ms`, its mean reading time (or another column, --time). A linear
regression predicts the time from the length of the word and of the word before, and from the log
frequency of both; another one also from the bits of both, given the words before them. Each story
is predicted from the others. The gain of the second is that of the log-likelihood of a word, in
thousandths of a nat, and that of the explained variance (R2); their intervals are those of 1,000
bootstrap draws of sentences. A frequency is the count of a word's longest piece in --text, without
which the rank in the model's vocabulary stands for it.

The first and the last word of a sentence, and words that the softmax does not know, are left out.
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy
from matplotlib import pyplot

from benchmarks.machine import machine
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.records import read_records
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.scoring.score_text import Cut, Settings, scores_of
from elmo_tasks.readers.spacy_pipeline import blank_pipeline

_DRAWS = 1000

# A sentence ends with such a word, perhaps before closing quotes.
_ENDS, _QUOTES = (".", "?", "!"), "'\"”’)"


class Sentence(NamedTuple):
    """
    A sentence with the reading time of each word.

    # Parameters

    times: In milliseconds, or as the table has them.
    """

    story: str
    words: list[str]
    times: list[float]


class Words(NamedTuple):
    """
    What is known of the words that are predicted, an array of one number a word each.

    # Parameters

    story, sentence: The indices of the story and of the sentence.
    controls: Shape (words, 4): length and log frequency of the word and of the word before.
    bits: Shape (words, 2): those of the word and of the word before.
    """

    story: numpy.ndarray
    sentence: numpy.ndarray
    times: numpy.ndarray
    controls: numpy.ndarray
    bits: numpy.ndarray


class Gain(NamedTuple):
    """
    The gain of a regression with bits over one without. Intervals have 95 %.

    # Parameters

    log_likelihood: Thousandths of a nat a word: the gain, and the ends of its interval.
    explained: The gain in R2, and the ends of its interval.
    without, with_bits: R2 of the two regressions.
    """

    log_likelihood: tuple[float, float, float]
    explained: tuple[float, float, float]
    without: float
    with_bits: float


def read_sentences(path: str, column: str = "mean_ms") -> Iterator[Sentence]:
    """Yields the sentences of a table. Raises `ValueError` with file and line."""
    sentence = Sentence("", [], [])
    for row in read_records(path):
        story, word = row.values["story"], row.values["word"]
        try:
            time = float(row.values[column])
        except ValueError as error:
            raise ValueError(f"{path}:{row.line}: {error}") from error
        if sentence.words and story != sentence.story:
            yield sentence
            sentence = Sentence(story, [], [])
        sentence = sentence._replace(story=story)
        sentence.words.append(word)
        sentence.times.append(time)
        if word.rstrip(_QUOTES).endswith(_ENDS):
            yield sentence
            sentence = Sentence(story, [], [])
    if sentence.words:
        yield sentence


def words_of(
    model: LanguageModel,
    sentences: list[Sentence],
    cut: Cut,
    context: int = 0,
    counts: Counter | None = None,
) -> Words:
    """
    Returns the words with what predicts their times.

    # Parameters

    context (default `0`): The number of sentences before each one that the model reads first.
    counts: How often a text has each token, in place of the ranks in the model's vocabulary.
    """
    ranks = {word: rank for rank, word in enumerate(model.softmax.words, start=1)}

    def log_frequency(word: str) -> float:
        piece = max(cut(word) or [word], key=len)
        if counts is not None:
            return math.log(counts[piece] + 1)
        return -math.log(ranks.get(piece, len(ranks) + 1))

    # An empty sentence between two stories ends a document.
    text: list[list[str]] = []
    for before, sentence in pairwise([sentences[0], *sentences]):
        if before.story != sentence.story:
            text.append([])
        text.append(sentence.words)
    scores = (score for score in scores_of(model, text, Settings(context, cut)) if score.tokens)
    stories = {sentence.story: index for index, sentence in enumerate(sentences)}
    rows = []
    for number, (sentence, score) in enumerate(zip(sentences, scores, strict=True)):
        bits = -score.forward / math.log(2)
        lengths = list(map(len, sentence.words))
        frequencies = list(map(log_frequency, sentence.words))
        for k in range(1, len(sentence.words) - 1):
            if score.known[k] and score.known[k - 1]:
                controls = lengths[k], frequencies[k], lengths[k - 1], frequencies[k - 1]
                place = stories[sentence.story], number, sentence.times[k]
                rows.append((*place, *controls, bits[k], bits[k - 1]))
    if len({row[0] for row in rows}) < 2:
        raise ValueError("each story is predicted from the others, so there must be two or more")
    table = numpy.array(rows)
    return Words(table[:, 0], table[:, 1], table[:, 2], table[:, 3:7], table[:, 7:])


def gain(words: Words, seed: int = 0) -> Gain:
    """Returns what bits add to the controls."""
    alone = predicted(words, words.controls)
    together = predicted(words, numpy.hstack([words.controls, words.bits]))
    # Shape: (words,), in thousandths of a nat
    likelihoods = 1000 * (together[1] - alone[1])
    total = (words.times - words.times.mean()) ** 2
    errors = [(words.times - each[0]) ** 2 for each in (alone, together)]
    _, members = numpy.unique(words.sentence, return_inverse=True)
    # Shape: (sentences, 4): number of words, and sums over them.
    sums = numpy.stack(
        [
            numpy.bincount(members, weights)
            for weights in (numpy.ones(len(total)), likelihoods, errors[0] - errors[1], total)
        ],
        axis=1,
    )
    draws = numpy.random.default_rng(seed).integers(len(sums), size=(_DRAWS, len(sums)))
    drawn = numpy.stack([sums[draw].sum(axis=0) for draw in draws])
    whole = sums.sum(axis=0)

    def with_interval(top: int, bottom: int) -> tuple[float, float, float]:
        low, high = numpy.quantile(drawn[:, top] / drawn[:, bottom], [0.025, 0.975])
        return float(whole[top] / whole[bottom]), float(low), float(high)

    explained = [1 - float(each.sum() / total.sum()) for each in errors]
    return Gain(with_interval(1, 0), with_interval(2, 3), *explained)


def predicted(words: Words, predictors: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """
    Returns the time of each word, and the log-likelihood of the real one, by a linear regression
    on the other stories with normal errors.
    """
    times, likelihoods = numpy.empty_like(words.times), numpy.empty_like(words.times)
    inputs = numpy.hstack([predictors, numpy.ones((len(predictors), 1))])
    for story in numpy.unique(words.story):
        held_out = words.story == story
        weights, *_ = numpy.linalg.lstsq(inputs[~held_out], words.times[~held_out], rcond=None)
        times[held_out] = inputs[held_out] @ weights
        variance = ((words.times - inputs @ weights)[~held_out] ** 2).mean()
        errors = words.times[held_out] - times[held_out]
        likelihoods[held_out] = -(errors**2 / variance + math.log(2 * math.pi * variance)) / 2
    return times, likelihoods


def draw(results: dict[str, Words], path: Path) -> None:
    """Draws the time that the controls leave unexplained against the bits of the word."""
    matplotlib.use("agg")
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, words in results.items():
        rest = words.times - predicted(words, words.controls)[0]
        groups = numpy.array_split(words.bits[:, 0].argsort(), 12)
        bits = [words.bits[each, 0].mean() for each in groups]
        means = [rest[each].mean() for each in groups]
        errors = [1.96 * rest[each].std() / math.sqrt(len(each)) for each in groups]
        axes.errorbar(bits, means, errors, fmt="o-", ms=4, capsize=2, label=name)
    axes.axhline(0, color="0.8", zorder=0)
    axes.set(
        xlabel="bits of the word, twelfths of all words",
        ylabel="ms more than by length and frequency",
    )
    axes.legend()
    figure.tight_layout()
    with atomic_write(path) as aside:
        figure.savefig(aside, format="png", dpi=150)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("data", help="a .tsv or .csv with the columns story, word and mean_ms")
    add("--time", default="mean_ms", metavar="COLUMN", help="default: mean_ms")
    add("--bilm", nargs="+", default=["base"], help="language models (default: base)")
    add("--context", type=int, default=0, metavar="N", help="sentences read before each one")
    add("--text", help="a tokenized text, whose words are counted for their frequencies")
    add("--seed", type=int, default=0, help="the seed of the bootstrap draws (default: 0)")
    add("--chart", type=Path, help="draw a chart, as PNG")
    args = parser.parse_args()
    sentences = list(read_sentences(args.data, args.time))
    tokenizer = blank_pipeline("en").tokenizer
    counts = None
    if args.text is not None:
        counts = Counter(word for line in read_lines(args.text) for word in line.split())
    results = {
        Path(name).name: words_of(
            LanguageModel.from_pretrained(name),
            sentences,
            lambda word: [token.text for token in tokenizer(word)],
            args.context,
            counts,
        )
        for name in args.bilm
    }
    num_words = sum(len(sentence.words) for sentence in sentences)
    print(f"{num_words:,} words of {len(sentences):,} sentences. {date.today()}, {machine()}\n")
    print("| model | words | gain, nats a 1,000 words | R2 without bits | with bits | gain in R2 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, words in results.items():
        found = gain(words, args.seed)
        likelihood = "{:.1f} ({:.1f} to {:.1f})".format(*found.log_likelihood)
        explained = "{:.4f} ({:.4f} to {:.4f})".format(*found.explained)
        shares = f"{found.without:.4f} | {found.with_bits:.4f}"
        print(f"| {name} | {len(words.times):,} | {likelihood} | {shares} | {explained} |")
    if args.chart is not None:
        draw(results, args.chart)


if __name__ == "__main__":
    main()

"""
Measures how a biLM's mean vectors know loud text best: #word, @name, sooo, GREAT, :). Prints a
table in Markdown.

    python -m benchmarks.loud_text base

Each row is a way to cut texts into tokens, or a baseline. The columns have the accuracy of a
logistic regression on 500 texts, with five draws of them, on 1,000 other texts:

NAME, loud: customer reviews and questions (see `benchmarks.knowledge`), made loud by rules: words
    with # or in capitals, letters repeated, names with @ in front.
NAME: the same as they are.
without, with smileys: sentences of chats and reviews whose smileys say which of them are happy and
    which are sad; the smileys are taken out or left in.

What was measured is kept in a JSON file, by the weights of the biLM, and not measured again.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import numpy

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.harness import Kept, mean_cell, parser, report
from benchmarks.knowledge.classify import (
    KINDS,
    Labelled,
    accuracies,
    of_vectors,
    of_words,
    shuffle,
    tokenize,
)
from benchmarks.knowledge.glove import read_glove
from benchmarks.knowledge.layers import MEAN, mean_vectors, views
from elmo_tasks.common.loud_words import lower_case, repeated_once
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.sklearn.words import plain_words_of, words_of

# The texts and the label of each, in a random order.
Shuffled = tuple[list[str], numpy.ndarray]

NUM_LABELS, NUM_UNSEEN, NUM_TEXTS = 500, 1000, 2200
_MADE_LOUD = ("customer reviews", "questions")
_CORPORA = ("opinions-free.train.txt.xz", "opinions-other.train.txt.xz")
_NAMES = ("@tom", "@sarah_k", "@JohnW", "@mike92", "@the_real_anna", "@Lee")

_HAPPY = {":)", ":-)", "=)", ":))", ":D", ":-D", "=D", "<3"}
_SAD = {":(", ":-(", "=(", ":((", ":'("}
# Smileys and emoji, all of which are taken out.
_SMILEY = re.compile(
    r"(?:[:;=8xX][-o'^]?[)(DdPp/\\|\]\[*3oO]+|[)(\]\[][-o^]?[:;=]|<3+|\^_*\^|-_+-|"
    r"[\U0001F000-\U0001FAFF\u2600-\u27bf\ufe0f\u200d])+"
)
_THREE_LETTERS = re.compile(r"([a-z])\1{2,}", re.IGNORECASE)


def _replace(pattern: str, replacement: str, text: str) -> list[str]:
    return words_of(re.sub(pattern, replacement, text))


def _whole(pattern: str, text: str) -> list[str]:
    """Cuts a text as `words_of` does, but leaves whole what a pattern of one group matches."""
    parts = re.split(pattern, text)
    return list(chain(*([part] if row % 2 else words_of(part) for row, part in enumerate(parts))))


def _map_words(change: Callable[[str], str], text: str) -> list[str]:
    return [change(word) for word in words_of(text)]


CUTS: dict[str, Callable[[str], list[str]]] = {
    "words": words_of,
    "a smiley one token": partial(_whole, r"((?<!\S)(?:[:;=][-'^]?[)(DPO/|]+|<3+)(?!\S))"),
    "`#word` one token": partial(_whole, r"(#\w+)"),
    "`#` left out": partial(_replace, r"#(?=\w)", ""),
    "`@name` one token": partial(_whole, r"(@\w+)"),
    "`@name` replaced by John": partial(_replace, r"@\w+", "John"),
    "repeated letters twice": partial(_map_words, partial(_THREE_LETTERS.sub, r"\1\1")),
    "repeated letters once": partial(_map_words, repeated_once),
    "capitals in lower case": partial(_map_words, lower_case),
    "both: `ElmoFeatures`": plain_words_of,
    "spaCy's rules": lambda text: next(tokenize([text])),
}


def main() -> None:
    options = parser("loud_text", __doc__)
    options.add_argument("bilm", help="name or folder of a biLM")
    options.add_argument("--data", type=Path, default=Path("data"), help="default: data")
    options.add_argument("--results", type=Path, default=Path("loud_text.json"))
    arguments = options.parse_args()
    kept = Kept(arguments.results)
    means = Means(ElmoEncoder.from_pretrained(arguments.bilm))
    key = f"{arguments.bilm} {means.encoder.bilm.fingerprint().hex()}"
    columns = {
        name: {
            row: kept.get(
                key, name, row, measure=partial(_measure, row, labelled, means, arguments.data)
            )
            for row in [*CUTS, "mean of GloVe", "TF-IDF"]
        }
        for name, labelled in sets(arguments.data)
    }
    rows = list(next(iter(columns.values())))
    table = [[row, *(mean_cell(column[row]) for column in columns.values())] for row in rows]
    report(["", *columns], table, "percent")


def sets(data: Path) -> Iterator[tuple[str, Shuffled]]:
    """Yields the names of the columns, and their texts and labels in a fixed random order."""
    for kind in _MADE_LOUD:
        texts, labels = shuffle(KINDS[kind].read(data))
        yield f"{kind}, loud", (list(map(loud, texts, range(NUM_TEXTS))), labels[:NUM_TEXTS])
        yield kind, (texts[:NUM_TEXTS], labels[:NUM_TEXTS])
    texts, labels = shuffle(read_smileys(data))
    texts, labels = texts[:NUM_TEXTS], labels[:NUM_TEXTS]
    yield "without smileys", ([_SMILEY.sub("", text) for text in texts], labels)
    yield "with smileys", (texts, labels)


def read_smileys(data: Path) -> Labelled:
    """Returns as many happy as sad sentences of the opinions, with their smileys."""
    texts: dict[str, list[str]] = {"happy": [], "sad": []}
    for line in chain(*(read_lines(data / "corpus" / name) for name in _CORPORA)):
        words = line.split()
        happy, sad = not _HAPPY.isdisjoint(words), not _SAD.isdisjoint(words)
        num_words = sum(word.isalpha() and not _SMILEY.fullmatch(word) for word in words)
        if happy != sad and num_words >= 3:
            texts["happy" if happy else "sad"].append(line.strip().replace("# ", "#"))
    distinct = {label: sorted(set(sentences)) for label, sentences in texts.items()}
    num = min(map(len, distinct.values()))
    samples = {
        label: random.Random(0).sample(sentences, num) for label, sentences in distinct.items()
    }
    return list(chain(*samples.values())), [label for label in samples for _ in range(num)]


def loud(text: str, seed: int) -> str:
    """
    Makes a text loud: a third of the texts begin with a name, a tenth are in capitals; of the words
    of the others, some have capitals, some a # and some a letter several times.
    """
    draw = random.Random(seed)
    words = [draw.choice(_NAMES)] if draw.random() < 0.35 else []
    shouts = draw.random() < 0.1
    for word in text.split():
        chance = draw.random()
        if word.isascii() and word.isalpha():
            if shouts or (chance < 0.08 and len(word) > 3):
                word = word.upper()
            elif chance < 0.16 and len(word) > 3:
                word = f"#{word}"
            elif chance < 0.22 and (letters := re.findall("[aeiouyslmh]", word)):
                letter = draw.choice(letters)
                word = word.replace(letter, letter * draw.randint(3, 6), 1)
        words.append(word)
    return " ".join(words)


class Means:
    """Computes the mean vectors of texts, and keeps those of their tokens."""

    def __init__(self, encoder: ElmoEncoder) -> None:
        self.encoder = encoder
        self._vectors: dict[tuple[str, ...], numpy.ndarray] = {}

    def __call__(self, texts: Iterable[list[str]]) -> numpy.ndarray:
        keys = list(map(tuple, texts))
        new = [words for words in dict.fromkeys(keys) if words not in self._vectors]
        if new:
            vectors = views(mean_vectors(self.encoder, map(list, new)))[MEAN]
            self._vectors.update(zip(new, vectors.numpy()))
        return numpy.stack([self._vectors[words] for words in keys])


def _measure(row: str, labelled: Shuffled, means: Means, data: Path) -> list[float]:
    texts, labels = labelled
    if row == "TF-IDF":
        features = of_words(texts)
    elif row in CUTS:
        features = of_vectors(means(CUTS[row](text) for text in texts))
    else:
        glove = read_glove(data)
        features = of_vectors(numpy.stack([glove.mean(words) for words in tokenize(texts)]))
    return accuracies(labels, NUM_UNSEEN, NUM_LABELS, features)


if __name__ == "__main__":
    main()

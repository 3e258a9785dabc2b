"""The data of each task, and draws from its training part."""

import gzip
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.knowledge.classify import read_film_reviews
from benchmarks.knowledge.ner import read_tagged
from elmo_tasks.common.records import read_records
from elmo_tasks.readers.entities import read_entities

_SEED = 0


class Example(NamedTuple):
    """
    # Parameters

    text: A text, or the list of its tokens.
    gold: Its label, or a list with the tag of each token; those of entities are in BIO.
    """

    text: Any
    gold: Any


class Task(NamedTuple):
    """
    # Parameters

    kind: `texts`, `entities` or `tags`.
    load: Returns the training and the test part of the data in a folder.
    unit: What a training example is.
    """

    kind: str
    load: Callable[[Path], tuple[list[Example], list[Example]]]
    unit: str


def _sentences(data: Path) -> tuple[list[Example], list[Example]]:
    examples = list(map(Example, *read_film_reviews(data)))
    random.Random(_SEED).shuffle(examples)
    return examples[2000:], examples[:2000]


def _reviews(data: Path) -> tuple[list[Example], list[Example]]:
    parts: dict[str, list[Example]] = {"train": [], "val": []}
    with gzip.open(data / "movie-reviews/imdb.train.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            part = parts["val" if row.get("fold") == "val" else "train"]
            part.append(Example(row["text"].replace("<br />", " "), row["label"]))
    test = random.Random(_SEED).sample(parts["val"], min(2000, len(parts["val"])))
    return parts["train"], test


def _entities(data: Path) -> tuple[list[Example], list[Example]]:
    train, test = (read_tagged(data / "conll2003" / name) for name in ("eng.train", "eng.testa"))
    return [Example(*fields) for fields in train], [Example(*fields) for fields in test]


def _tags(data: Path) -> tuple[list[Example], list[Example]]:
    def read(name: str) -> list[Example]:
        records = read_records(data / "pos" / name, "columns", ["word", "upos", "tag"])
        return [Example(record.values["word"], record.values["tag"]) for record in records]

    return read("ewt.train.txt"), read("ewt.dev.txt")


TASKS = {
    "sentences": Task("texts", _sentences, "sentences of film reviews (rt-polarity)"),
    "reviews": Task("texts", _reviews, "film reviews (IMDB)"),
    "entities": Task("entities", _entities, "sentences with entities (CoNLL-2003)"),
    "tags": Task("tags", _tags, "sentences with tags (EWT)"),
}


def draw(examples: Sequence[Example], size: int, seed: int) -> list[Example]:
    """Returns so many examples by chance."""
    return random.Random(seed).sample(examples, min(size, len(examples)))


def held_out(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """
    Returns the examples without each fifth one, and these, by which a training chooses its best
    epoch: they count as labels, too.
    """
    dev = list(examples[::5])
    return [example for index, example in enumerate(examples) if index % 5], dev


def score(kind: str, gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Returns the accuracy of labels or tags, or F1 of entities."""
    if kind == "texts":
        return sum(map(str.__eq__, gold, predicted)) / len(gold)
    if kind == "tags":
        pairs = [
            pair
            for pair_of_texts in zip(gold, predicted)
            for pair in zip(*pair_of_texts, strict=True)
        ]
        return sum(one == other for one, other in pairs) / len(pairs)
    right = num_gold = num_predicted = 0
    for one, other in zip(gold, predicted):
        facts, claims = set(read_entities(one)), set(read_entities(other))
        right += len(facts & claims)
        num_gold += len(facts)
        num_predicted += len(claims)
    return 2 * right / max(1, num_gold + num_predicted)

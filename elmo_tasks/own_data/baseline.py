"""The score that a model must beat: the score of the most frequent answers in the training data."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from elmo_tasks.common.records import read_records
from elmo_tasks.own_data.split import Reader
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.entities import Entity, read_entities, split_tag, tag_of
from elmo_tasks.readers.tag import TagReader

# Maps the prefixes of BIOUL to those of BIO.
_BIO = {"O": "O", "B": "B", "I": "I", "U": "B", "L": "I"}


def baseline(reader: Reader, train: str | os.PathLike, dev: str | os.PathLike) -> tuple[float, str]:
    """
    Returns the score on `dev` of a model that always gives the most frequent answer in `train` (the
    most frequent label, or the most frequent tag of each word), and a description of this model.
    """
    if isinstance(reader, ClassifyReader):
        return _of_labels(*([*_labels(reader, path)] for path in (train, dev)))
    return _of_tags(reader, train, dev)


def _labels(reader: ClassifyReader, path: str | os.PathLike) -> Iterable[Sequence[str]]:
    for record in read_records(path):
        label = reader.labels_of(record.values)
        yield [label] if isinstance(label, str) else label


def _of_labels(train: list[Sequence[str]], dev: list[Sequence[str]]) -> tuple[float, str]:
    ((label, _),) = Counter(each for labels in train for each in labels).most_common(1)
    num_right = sum(label in labels for labels in dev)
    # If each text has one label, F1 is the accuracy.
    score = _f1(num_right, len(dev), sum(map(len, dev)))
    return score, f"every text as {label!r}, the most frequent label"


def _of_tags(
    reader: TagReader, train: str | os.PathLike, dev: str | os.PathLike
) -> tuple[float, str]:
    counts: dict[str, Counter[str]] = {}
    of_all: Counter[str] = Counter()
    for sentence in reader.sentences(train):
        of_all.update(sentence.tags)
        for word, tag in zip(sentence.words, sentence.tags):
            counts.setdefault(word, Counter())[tag] += 1
    best = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
    other = of_all.most_common(1)[0][0]
    right, predicted, gold = 0, 0, 0
    for sentence in reader.sentences(dev):
        found: list[str] = [best.get(word, other) for word in sentence.words]
        claims = _claims(found, reader.spans)
        facts = _claims(sentence.tags, reader.spans)
        right += len(claims & facts)
        predicted += len(claims)
        gold += len(facts)
    return _f1(right, predicted, gold), "each word with its most frequent tag"


def _claims(tags: list[str], spans: bool) -> set[Entity]:
    if not spans:
        return {Entity(tag, index, index + 1) for index, tag in enumerate(tags)}
    # The most frequent tags may break BIOUL. With B and I alone, they can always be read.
    pairs = map(split_tag, tags)
    return set(read_entities([tag_of(_BIO[prefix], type_) for prefix, type_ in pairs]))


def _f1(num_right: int, num_predicted: int, num_gold: int) -> float:
    return 2 * num_right / max(1, num_predicted + num_gold)

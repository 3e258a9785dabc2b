import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.own_data.baseline import baseline
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.tag import TagReader


def rows(path: Path, values: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("train", "dev", "separator", "expected"),
    [
        ("aab", "abba", None, 2 / 4),
        # 2 of 3 texts have a; of 4 labels, a is 2: F1 = 2 * 2 / (3 + 4).
        (["a;b", "a"], ["a", "b", "a;c"], ";", 4 / 7),
    ],
)
def test_texts_have_the_most_frequent_label(
    train: Any, dev: Any, separator: str | None, expected: float, tmp_path: Path
) -> None:
    paths = [
        rows(tmp_path / f"{name}.jsonl", [{"text": "Soup", "label": label} for label in labels])
        for name, labels in (("train", train), ("dev", dev))
    ]

    score, always = baseline(ClassifyReader(separator=separator), *paths)

    assert score == pytest.approx(expected) and "'a'" in always


def test_words_have_their_most_frequent_tag_and_others_that_of_all(tmp_path: Path) -> None:
    reader = TagReader(column="tags")
    train = [{"tokens": ["saw", "saw", "saw", "a", "x"], "tags": ["V", "N", "V", "D", "D"]}] * 2
    dev = [{"tokens": ["saw", "a", "b", "c"], "tags": ["V", "D", "V", "N"]}]
    paths = [rows(tmp_path / f"{n}.jsonl", each) for n, each in (("train", train), ("dev", dev))]

    score, _ = baseline(reader, *paths)

    # V, D, and twice V or D, which are as frequent; V comes first.
    assert score == 3 / 4


def test_spans_are_counted_whole(tmp_path: Path) -> None:
    reader = TagReader(column="tags", spans=True)
    train = [{"tokens": ["New", "York", "is", "old"], "tags": ["B-LOC", "L-LOC", "O", "O"]}]
    dev = [
        {"tokens": ["New", "York", "is", "new"], "tags": ["B-LOC", "L-LOC", "O", "O"]},
        {"tokens": ["Old", "York", "sleeps"], "tags": ["B-LOC", "L-LOC", "O"]},
    ]
    paths = [rows(tmp_path / f"{n}.jsonl", each) for n, each in (("train", train), ("dev", dev))]

    score, _ = baseline(reader, *paths)

    # Predicted are New York, and York alone; one of two is right, and one of two is found. The
    # unknown words are O, as most words.
    assert score == 1 / 2

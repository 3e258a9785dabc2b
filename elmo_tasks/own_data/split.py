"""Splits the rows or sentences of a file into stratified parts."""

import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.records import Record, kind_of, read_records, suffix_of
from elmo_tasks.common.text_files import at_line, numbered_lines
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.tag import TagReader

# The readers of the tasks for a user's own data.
Reader = ClassifyReader | TagReader


class Example(NamedTuple):
    """
    A row of a table, or a sentence with tags, and the `lines` that are written for it. Examples of
    the same label are split evenly, and equal texts are in the same part.
    """

    lines: str
    label: str
    text: str


def read_examples(reader: Reader, path: str | os.PathLike) -> Iterator[Example]:
    """Yields the examples of a file. The rows of tables become JSON. Sentences stay as they are."""
    if isinstance(reader, ClassifyReader):
        return row_examples(reader, read_records(path))
    return _sentences(path)


def row_examples(reader: ClassifyReader, records: Iterable[Record]) -> Iterator[Example]:
    """Yields the examples of rows. Raises `ValueError` at a row without a label."""
    for record in records:
        with at_line(record.file, record.line):
            label = reader.labels_of(record.values)
        line = json.dumps(record.values, ensure_ascii=False, default=str)
        text = json.dumps([record.values.get(name) for name in reader.texts])
        yield Example(f"{line}\n", label if isinstance(label, str) else "", text)


def part_suffix(reader: Reader, path: str | os.PathLike) -> str:
    """Returns the suffix of a file to which examples of `path` are written."""
    return ".jsonl" if isinstance(reader, ClassifyReader) else suffix_of(path)


def split(examples: Sequence[Example], num_parts: int, seed: int) -> list[list[Example]]:
    """
    Splits examples into random parts of about equal sizes, with about equal numbers of examples of
    each label. Equal texts are in the same part. A part keeps the order of the examples.
    """
    indices: dict[str, list[int]] = {}
    for index, example in enumerate(examples):
        indices.setdefault(example.text, []).append(index)
    by_label: dict[str, list[list[int]]] = {}
    for same in indices.values():
        by_label.setdefault(examples[same[0]].label, []).append(same)
    chance = random.Random(seed)
    parts: list[list[int]] = [[] for _ in range(num_parts)]
    turn = 0
    for label in sorted(by_label):
        chance.shuffle(by_label[label])
        for same in by_label[label]:
            parts[turn % num_parts].extend(same)
            turn += 1
    return [[examples[index] for index in sorted(part)] for part in parts]


def _sentences(path: str | os.PathLike) -> Iterator[Example]:
    if kind_of(path) == "json":
        for record in read_records(path):
            line = json.dumps(record.values, ensure_ascii=False)
            text = record.values.get("text", record.values.get("tokens"))
            yield Example(f"{line}\n", "", json.dumps(text))
        return
    lines: list[str] = []
    for line in [*(line for _, line in numbered_lines(path)), ""]:
        if line.strip():
            lines.append(line)
        elif lines:
            tokens = [line for line in lines if not line.startswith("# ")]
            yield Example("\n".join(lines) + "\n\n", "", "\n".join(tokens))
            lines = []

"""Deals the rows or sentences of a file into parts."""

import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from allennlp.data import DatasetReader

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import kind_of, read_records, suffix_of
from elmo_tasks.common.text_files import at_line, numbered_lines
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.tag import TagReader


class Unit(NamedTuple):
    """
    A row of a table, or a sentence with tags.

    # Parameters

    lines: The lines that are written for the unit.
    label: Units of the same label are dealt evenly to the parts.
    text: Equal texts are dealt to the same part.
    """

    lines: str
    label: str
    text: str


def read_units(reader: DatasetReader, path: str | os.PathLike) -> Iterator[Unit]:
    """
    Yields the units of a file that `ClassifyReader` or `TagReader` reads. The rows of tables become
    JSON. Sentences stay as they are.
    """
    if isinstance(reader, ClassifyReader):
        for record in read_records(path):
            with at_line(path, record.line):
                label = reader.labels_of(record.values)
            line = json.dumps(record.values, ensure_ascii=False, default=str)
            text = json.dumps([record.values.get(name) for name in reader.texts])
            yield Unit(f"{line}\n", label if isinstance(label, str) else "", text)
    elif isinstance(reader, TagReader):
        yield from _sentences(path)
    else:
        raise ConfigurationError(
            "only the data of classify and tag can be dealt into parts, not that of "
            f"{type(reader).__name__}"
        )


def part_suffix(reader: DatasetReader, path: str | os.PathLike) -> str:
    """Returns the suffix of a file to which units of `path` are written."""
    return ".jsonl" if isinstance(reader, ClassifyReader) else suffix_of(path)


def deal(units: Sequence[Unit], num_parts: int, seed: int) -> list[list[Unit]]:
    """
    Deals units into parts at random. The parts have about equal sizes, and about equal numbers of
    units of each label. Equal texts are in the same part. A part keeps the order of the units.
    """
    indices: dict[str, list[int]] = {}
    for index, unit in enumerate(units):
        indices.setdefault(unit.text, []).append(index)
    by_label: dict[str, list[list[int]]] = {}
    for same in indices.values():
        by_label.setdefault(units[same[0]].label, []).append(same)
    chance = random.Random(seed)
    dealt: list[list[int]] = [[] for _ in range(num_parts)]
    turn = 0
    for label in sorted(by_label):
        chance.shuffle(by_label[label])
        for same in by_label[label]:
            dealt[turn % num_parts].extend(same)
            turn += 1
    return [[units[index] for index in sorted(part)] for part in dealt]


def written(units: Iterable[Unit]) -> str:
    return "".join(unit.lines for unit in units)


def _sentences(path: str | os.PathLike) -> Iterator[Unit]:
    if kind_of(path) == "json":
        for record in read_records(path):
            line = json.dumps(record.values, ensure_ascii=False)
            text = record.values.get("text", record.values.get("tokens"))
            yield Unit(f"{line}\n", "", json.dumps(text))
        return
    lines: list[str] = []
    for _, line in numbered_lines(path):
        if line.strip():
            lines.append(line)
        elif lines:
            yield _block(lines)
            lines = []
    if lines:
        yield _block(lines)


def _block(lines: list[str]) -> Unit:
    tokens = [line for line in lines if not line.startswith("# ")]
    return Unit("\n".join(lines) + "\n\n", "", "\n".join(tokens))

"""Inspects a file of data, and chooses what a first training on it needs."""

import argparse
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.data import DatasetReader

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.records import Record, kind_of, read_records
from elmo_tasks.common.spelling import listed
from elmo_tasks.own_data.columns import choose_columns, choose_tags, column_names
from elmo_tasks.own_data.split import part_suffix, read_examples, row_examples, split, written
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.entities import split_tag
from elmo_tasks.readers.tag import TagReader

# With fewer rows or sentences than this, a fifth of them is for validation, and folds are advised.
_SMALL = 1000
# At most this many labels are listed with their counts.
_LISTED = 12
# (number of examples, schedule): the schedule (batch size, epochs, patience) is for at most this
# many examples.
_SCHEDULES = [(500, (8, 60, 15)), (2_000, (16, 40, 10)), (10_000, (32, 20, 5))]
_LONGEST_SCHEDULE = (32, 10, 3)
# Where the commands of the docs put GloVe.
_GLOVE = "data/vectors/glove.6B.100d.120k.txt.gz"


class Found(NamedTuple):
    """
    What was found in a file: a description (`lines`), what a person may want to correct (`notes`),
    fields of the config, and the text of each part of the data, by the path to write it to. Of a
    file that `is_small`, a score on one part says little.
    """

    lines: list[str]
    notes: list[str]
    fields: dict[str, Any]
    files: dict[Path, str]
    is_small: bool

    def write(self) -> None:
        for folder in {path.parent for path in self.files}:
            # The command has refused a folder that exists unless it is to be replaced.
            shutil.rmtree(folder, ignore_errors=True)
        for path, text in self.files.items():
            write_whole(path, text)


def inspect_data(args: argparse.Namespace) -> tuple[Path, Found]:
    """
    Returns the path for a config that trains on a file of data, and what was found in it. Raises
    `ConfigurationError` if the file has no fitting columns or too few rows, or the folder of the
    parts exists already.
    """
    reader: DatasetReader
    path = args.file
    if args.task == "classify":
        records = list(read_records(path, header=not args.no_header))
        if not records:
            raise ConfigurationError(f"{path} has no row")
        chosen = choose_columns(records, args.text, args.label, args.separator)
        fields: dict[str, Any] = {**chosen._asdict(), "language": args.language}
        reader = ClassifyReader(**fields)
        kept = [each for each in records if all(map(str.strip, _texts(reader, each)))]
        examples = list(row_examples(reader, kept))
        line, notes = _about_rows(reader, path, kept)
        if left_out := len(records) - len(kept):
            notes.append(f"Rows without a text, which are left out: {left_out:,}.")
    else:
        reader = choose_tags(path, args.column, args.language)
        columns = reader.columns if kind_of(path) not in ("conllu", "json") else None
        fields = {"column": reader.column, "columns": columns, "spans": reader.spans}
        fields["language"] = args.language
        examples = list(read_examples(reader, path))
        line, notes = _about_tags(reader, path)
    lines, files, num_train = [line], {}, len(examples)
    folder = Path(path.name.partition(".")[0])
    paths = [path, args.dev]
    if args.dev is None:
        num_parts = 5 if len(examples) < _SMALL else 10
        if len(examples) < 2 * num_parts:
            raise ConfigurationError(
                f"{path} has {len(examples)} examples; a training needs {2 * num_parts} or more"
            )
        if folder.exists() and not args.force:
            raise ConfigurationError(f"{folder} exists; replace it with --force, or remove it")
        dev, *others = split(examples, num_parts, args.seed)
        train = [example for part in others for example in part]
        paths = [folder / f"{name}{part_suffix(reader, path)}" for name in ("train", "dev")]
        files = dict(zip(paths, map(written, (train, dev))))
        num_train = len(train)
        lines.append(
            f"{len(dev):,} of them, drawn with the seed {args.seed}, are for validation: "
            f"{paths[1]}; the other {num_train:,} are in {paths[0]}."
        )
    has_glove = Path(_GLOVE).exists()
    if not has_glove and args.language == "en":
        notes.append(
            f"GloVe would help, but {_GLOVE} is not there; `python scripts/fetch_data.py --glove "
            "6B` in a clone of the repository makes it, and --force here then uses it."
        )
    fields = {key: value for key, value in fields.items() if value is not None}
    batch_size, num_epochs, patience = schedule(num_train)
    fields |= {
        "train_data_path": str(paths[0]),
        "validation_data_path": str(paths[1]),
        "elmo_at": ["input"],
        "store": {"memory": 2000},
        "word_vectors": "glove.6B.100d" if has_glove else "learned",
        "batch_size": batch_size,
        "num_epochs": num_epochs,
        "patience": patience,
    }
    is_small = len(examples) < _SMALL
    return Path(f"{folder}.jsonnet"), Found(lines, notes, fields, files, is_small)


def schedule(num_train: int) -> tuple[int, int, int]:
    """Returns the batch size, the most epochs and the patience for a number of examples."""
    fitting = (each for most, each in _SCHEDULES if num_train <= most)
    return next(fitting, _LONGEST_SCHEDULE)


def _texts(reader: ClassifyReader, record: Record) -> list[str]:
    return [str(record.values.get(name) or "") for name in reader.texts]


def _about_rows(
    reader: ClassifyReader, path: Path, records: Sequence[Record]
) -> tuple[str, list[str]]:
    labels: Counter[str] = Counter()
    lines: dict[str, int] = {}
    for record in records:
        found = reader.labels_of(record.values)
        for label in [found] if isinstance(found, str) else found:
            labels[label] += 1
            lines[label] = record.line
    if len(labels) < 2:
        (only,) = labels or [None]
        found = f"only the label {only!r}" if labels else "no label"
        raise ConfigurationError(
            f"{path} has {found} in the column {reader.label}; a model needs two or more labels "
            "(--label NAME chooses another column)"
        )
    if len(labels) == len(records):
        raise ConfigurationError(
            f"{path}: each row has another value in the column {reader.label}; name the column of "
            "the labels with --label"
        )
    notes = []
    used = {*reader.texts, reader.label}
    if unused := [name for name in column_names(records) if name not in used]:
        notes.append(
            f"Columns that are not used: {listed(unused)}. Choose others with --text NAME, twice "
            "for two texts, and --label NAME."
        )
    if once := [f"{name!r} (line {lines[name]})" for name in labels if labels[name] == 1]:
        notes.append(f"Labels that occur once, perhaps by a slip: {listed(once)}.")
    line = (
        f"{path} has {len(records):,} rows: texts in {' and '.join(reader.texts)}, labels in "
        f"{reader.label}: {_counted(labels)}."
    )
    return line, notes


def _about_tags(reader: TagReader, path: Path) -> tuple[str, list[str]]:
    sentences = list(reader.sentences(path))
    tags = Counter(tag for sentence in sentences for tag in sentence.tags)
    kind, notes = "tags", []
    if reader.spans:
        kind = "labels of spans"
        begun = [tag for sentence in sentences for tag in sentence.tags if tag[0] in "BUS"]
        tags = Counter(split_tag(tag)[1] for tag in begun) or tags
        if once := [name for name in tags if tags[name] == 1]:
            notes.append(f"Labels that occur once, perhaps by a slip: {listed(once)}.")
    elif len(tags) == 1:
        raise ConfigurationError(f"{path} has only the tag {next(iter(tags))!r} in {reader.column}")
    num_words = sum(len(sentence.words) for sentence in sentences)
    line = (
        f"{path} has {len(sentences):,} sentences of {num_words:,} words, {kind} in "
        f"{reader.column}: {_counted(tags)}."
    )
    return line, notes


def _counted(counts: Counter[str]) -> str:
    first = [f"{name} ({number:,})" for name, number in counts.most_common(_LISTED)]
    more = len(counts) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more > 0 else "")

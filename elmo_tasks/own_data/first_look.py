"""Looks at a file of data, and chooses what a first training on it needs."""

import argparse
import statistics
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.data import DatasetReader

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.records import read_records
from elmo_tasks.own_data.columns_of_table import choose_columns
from elmo_tasks.own_data.tags_of_file import choose_tags
from elmo_tasks.own_data.units import deal, part_suffix, read_units, written
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.entities import split_tag
from elmo_tasks.readers.tag import TagReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

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
    # Parameters

    lines: A description of the file, for people.
    fields: Fields of the config.
    files: The text of each part of the data, by the path to write it to.
    is_small: Whether there are so few examples that a score on one part of them says little.
    """

    lines: list[str]
    fields: dict[str, Any]
    files: dict[Path, str]
    is_small: bool

    def write(self) -> None:
        for path, text in self.files.items():
            write_whole(path, text)


def look(args: argparse.Namespace) -> tuple[Path, Found]:
    """
    Returns the path for a config that trains on a file of data, and what was found in the file.

    # Raises

    `ConfigurationError`: The file has no fitting columns or too few rows, or the folder of the
        parts exists already.
    """
    reader: DatasetReader
    path = args.file
    if args.task == "classify":
        chosen = choose_columns(path, args.text, args.label, args.separator)
        fields: dict[str, Any] = {**chosen._asdict(), "language": args.language}
        reader = ClassifyReader(**fields)
        line = _about_texts(reader, path)
    else:
        tokenize = ElmoSpacyTokenizer(args.language).tokenize
        fields = {**choose_tags(path, args.column, tokenize)._asdict(), "language": args.language}
        reader = TagReader(**fields)
        line = _about_tags(reader, path)
    units = list(read_units(reader, path))
    folder = Path(path.name.partition(".")[0])
    lines, files = [line], {}
    if args.dev is None:
        num_parts = 5 if len(units) < _SMALL else 10
        if len(units) < 2 * num_parts:
            raise ConfigurationError(
                f"{path} has {len(units)} examples; a training needs {2 * num_parts} or more"
            )
        if folder.exists():
            raise ConfigurationError(f"{folder} exists; remove it, or choose another folder")
        dev, *others = deal(units, num_parts, args.seed)
        train = [unit for part in others for unit in part]
        names = [folder / f"{name}{part_suffix(reader, path)}" for name in ("train", "dev")]
        files = dict(zip(names, map(written, (train, dev))))
        lines.append(
            f"{len(dev):,} of them, drawn with the seed {args.seed}, are for validation: "
            f"{names[1]}; the other {len(train):,} are in {names[0]}."
        )
        num_train, paths = len(train), names
    else:
        num_train, paths = len(units), [path, args.dev]
    fields = {key: value for key, value in fields.items() if value is not None}
    batch_size, num_epochs, patience = schedule(num_train)
    fields |= {
        "train_data_path": str(paths[0]),
        "validation_data_path": str(paths[1]),
        "elmo_at": ["input"],
        "store": {"memory": 2000},
        "word_vectors": "glove.6B.100d" if Path(_GLOVE).exists() else "learned",
        "batch_size": batch_size,
        "num_epochs": num_epochs,
        "patience": patience,
    }
    return Path(f"{folder}.jsonnet"), Found(lines, fields, files, len(units) < _SMALL)


def schedule(num_train: int) -> tuple[int, int, int]:
    """
    Returns the batch size, the maximum number of epochs and the patience for a number of examples.
    """
    fitting = (each for most, each in _SCHEDULES if num_train <= most)
    return next(fitting, _LONGEST_SCHEDULE)


def _about_texts(reader: ClassifyReader, path: Path) -> str:
    rows = [record.values for record in read_records(path)]
    lengths = [len(str(row.get(name) or "").split()) for row in rows for name in reader.texts]
    labels: Counter[str] = Counter()
    for row in rows:
        found = reader.labels_of(row)
        labels.update([found] if isinstance(found, str) else found)
    if not labels:
        raise ConfigurationError(f"{path} has no label in the column {reader.label}")
    return (
        f"{path} has {len(rows):,} rows: texts in {' and '.join(reader.texts)} (words: "
        f"{statistics.median(lengths):.0f} in the median, {max(lengths):,} at most), labels in "
        f"{reader.label}: {_listed(labels)}."
    )


def _about_tags(reader: TagReader, path: Path) -> str:
    sentences = list(reader.sentences(path))
    tags = Counter(tag for sentence in sentences for tag in sentence.tags)
    kind = "tags"
    if reader.spans:
        kind = "labels of spans"
        begun = [tag for sentence in sentences for tag in sentence.tags if tag[0] in "BUS"]
        tags = Counter(split_tag(tag)[1] for tag in begun) or tags
    num_words = sum(len(sentence.words) for sentence in sentences)
    return (
        f"{path} has {len(sentences):,} sentences of {num_words:,} words, {kind} in "
        f"{reader.column}: {_listed(tags)}."
    )


def _listed(counts: Counter[str]) -> str:
    first = [f"{name} {number:,}" for name, number in counts.most_common(_LISTED)]
    more = len(counts) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more > 0 else "")

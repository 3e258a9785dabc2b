"""Inspects a file of data, and chooses the settings of a first training run on it."""

import argparse
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.commands.own_data.columns import choose_columns, column_names
from elmo_tasks.commands.own_data.oddities import alike_labels, equal_texts, odd_labels, odd_texts
from elmo_tasks.commands.own_data.split import (
    Example,
    Reader,
    part_suffix,
    read_examples,
    row_examples,
    split,
)
from elmo_tasks.commands.own_data.tags import about_tags, choose_tags
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.outputs import check_outputs
from elmo_tasks.common.records import read_rows
from elmo_tasks.common.rows import ANSWER, LeftOut, plain_text
from elmo_tasks.common.text import listed
from elmo_tasks.readers.classify import ClassifyReader

# With fewer rows or sentences than this, a fifth is for validation, and folds are advised.
_SMALL = 1000
# Up to so many rows, TF-IDF beside `base` was measured to be as good as a training run.
_FEW_FOR_TRAINING = 2000
# The seed of the draw for validation.
_SEED = 1
# The maximum number of training examples for each schedule: (batch size, epochs, patience).
_SCHEDULES = [(500, (8, 60, 15)), (2_000, (16, 40, 10)), (10_000, (32, 20, 5))]
_LONGEST_SCHEDULE = (32, 10, 3)
# The page shows this many inputs, of at most this many characters.
_NUM_SHOWN, _LONGEST_SHOWN = 2, 600
# Where the commands of the docs put GloVe.
_GLOVE = "data/vectors/glove.6B.100d.120k.txt.gz"


class Found(NamedTuple):
    """
    The findings about a file of data: a description (`lines`), advice (`notes`), values for fields
    of the config (`fields`), and the text of each part of the data by its path (`files`).
    """

    lines: list[str]
    notes: list[str]
    fields: dict[str, Any]
    files: dict[Path, str]

    def write(self) -> None:
        for path, text in self.files.items():
            write_whole(path, text)


def inspect_data(args: argparse.Namespace) -> tuple[Path, Found]:
    """
    Returns the path for a config that trains on a file of data, and the findings about the data.
    Raises `ConfigurationError` if the file has no fitting columns or too few rows, or if a file of
    the parts exists and --force is not given.
    """
    path, name = args.file, args.file.name.partition(".")[0]
    # The folder of a file without a suffix cannot have its name.
    folder = Path(name if name != path.name else f"{name}_parts")
    config, inputs = Path(f"{name}.jsonnet"), [path, *filter(None, [args.dev])]
    check_outputs([config], inputs, args.force, [folder] if args.dev is None else [])
    if args.no_header and args.dev is not None:
        raise ConfigurationError("--dev needs a header in both files: write it, or leave out --dev")
    inspect = _inspect_rows if args.task == "classify" else _inspect_tags
    reader, examples, data = inspect(args)
    paths, num_train = [path, args.dev], len(examples)
    dev = [] if args.dev is None else list(read_examples(reader, args.dev, LeftOut()))
    if args.dev is not None:
        data.notes.extend(_about_dev(args.dev, dev, path, examples))
    else:
        num_parts = 5 if len(examples) < _SMALL else 10
        if len(examples) < 2 * num_parts:
            hint = "; an empty line ends a sentence" if args.task == "tag" else ""
            raise ConfigurationError(
                f"{path} has {len(examples)} examples; a training run needs {2 * num_parts} or more"
                f"{hint}"
            )
        dev, *parts = split(examples, num_parts, _SEED)
        train = [example for part in parts for example in part]
        if not train:
            raise ConfigurationError(
                f"{path} has the same text in each of its {len(examples)} examples"
            )
        # The suffix follows from the content of the file.
        paths = [folder / f"{name}{part_suffix(reader, path)}" for name in ("train", "dev")]
        check_outputs(paths, inputs, args.force)
        for part_path, part in zip(paths, (train, dev)):
            data.files[part_path] = "".join(example.lines for example in part)
        num_train = len(train)
        data.lines.append(
            f"{len(dev):,} of them, drawn at random, are for validation: {paths[1]}; the other "
            f"{num_train:,} are in {paths[0]}."
        )
    # TF-IDF was measured on single English texts with one label each.
    is_measured = len(data.fields.get("texts", ())) == 1 and "separator" not in data.fields
    if is_measured and args.language == "en" and len(examples) <= _FEW_FOR_TRAINING:
        data.notes.append(
            f"With {len(examples):,} rows, TF-IDF beside `base` is usually as good, in seconds: "
            "docs/sklearn.md."
        )
    has_glove = Path(_GLOVE).exists()
    if not has_glove and args.language == "en":
        data.notes.append(
            f"GloVe would help, but {_GLOVE} is not there; `python scripts/fetch_data.py --glove "
            "6B` in a clone of the repository makes it, and --force here then uses it."
        )
    if len(examples) < _SMALL:
        data.notes.append(
            "With so few examples, the score on one part for validation says little: elmo-tasks "
            "train with --folds 5 trains five times more, and shows how far the scores differ."
        )
    batch_size, num_epochs, patience = schedule(num_train)
    data.fields.update(
        language=args.language,
        examples=page_examples(reader, dev),
        train_data_path=str(paths[0]),
        validation_data_path=str(paths[1]),
        elmo_at=["input"],
        store={"memory": 2000},
        word_vectors="glove.6B.100d" if has_glove else "learned",
        batch_size=batch_size,
        num_epochs=num_epochs,
        patience=patience,
    )
    return config, data


def _about_dev(
    dev_path: Path, dev: Sequence[Example], path: Path, examples: Sequence[Example]
) -> Iterator[str]:
    """
    Yields a line if texts for validation are also training texts. Raises `ConfigurationError` if
    they have labels that the training texts lack.
    """
    labels = {example.label for example in examples}
    if unknown := sorted({example.label for example in dev} - labels):
        raise ConfigurationError(f"{dev_path} has labels that {path} lacks: {listed(unknown)}")
    texts = {example.text for example in examples}
    if num_known := sum(example.text in texts for example in dev):
        yield (
            f"Of the {len(dev):,} texts of {dev_path}, {num_known:,} are in {path}, too: the model "
            "learns them, so the score on them says nothing about new texts."
        )


def page_examples(reader: Reader, dev: Iterable[Example]) -> list[dict[str, str]]:
    """Returns the first inputs of the validation data that are short enough for a page."""
    short = (example for example in dev if len(example.text) <= _LONGEST_SHOWN)
    texts = [json.loads(example.text) for example in islice(short, _NUM_SHOWN)]
    if isinstance(reader, ClassifyReader):
        return [dict(zip(reader.texts, map(plain_text, row))) for row in texts]
    return [{"sentence": " ".join(words)} for words in texts]


def schedule(num_train: int) -> tuple[int, int, int]:
    """Returns the batch size, the most epochs and the patience for a number of examples."""
    fitting = (passes for most, passes in _SCHEDULES if num_train <= most)
    return next(fitting, _LONGEST_SCHEDULE)


def _inspect_rows(args: argparse.Namespace) -> tuple[Reader, list[Example], Found]:
    path = args.file
    records = list(read_rows(path, header=not args.no_header))
    if not records:
        raise ConfigurationError(f"{path} has no row")
    reader = choose_columns(records, args.text, args.label, args.separator)
    left_out = LeftOut()
    rows = list(reader.complete_rows(records, left_out))
    examples = list(row_examples(reader, rows))
    labels = Counter[str]()
    for record in rows:
        labels_of_row = reader.labels_of(record.values)
        labels.update([labels_of_row] if isinstance(labels_of_row, str) else labels_of_row)
    if len(labels) < 2:
        raise ConfigurationError(_too_few_labels(path, reader, labels, left_out))
    notes = []
    columns = {*reader.texts, reader.label}
    if unused := [name for name in column_names(records) if name and name not in columns]:
        notes.append(
            f"Columns that are not used: {listed(unused)}. Choose others with --text NAME, twice "
            "for two texts, and --label NAME."
        )
    notes += odd_labels(labels, [record.values.get(reader.label) for record in rows])
    notes += equal_texts(rows, reader)
    notes += odd_texts(rows, reader.texts)
    if left_out:
        notes.append(f"Left out: {left_out}.")
    line = (
        f"{path} has {len(rows):,} rows: texts in {' and '.join(reader.texts)}, labels in "
        f"{reader.label}: {_counts_in_words(labels)}."
    )
    fields: dict[str, Any] = {"texts": reader.texts, "label": reader.label}
    if reader.separator is not None:
        fields["separator"] = reader.separator
        nums = Counter(len(reader.labels_of(record.values)) for record in rows)
        line += (
            f" A row may have any number of labels: {nums[0]:,} have none, and "
            f"{nums.total() - nums[0] - nums[1]:,} have several."
        )
    return reader, examples, Found([line], notes, fields, {})


def _too_few_labels(
    path: Path, reader: ClassifyReader, labels: Collection[str], left_out: LeftOut
) -> str:
    problem = f"only the label {next(iter(labels))!r}" if labels else "no label"
    message = f"{path} has {problem} in the column {reader.label}"
    if left_out:
        message += f" ({left_out} left out)"
    if left_out.of_answers:
        return f"{message}: give --label {ANSWER} for a model of what is accepted or rejected"
    return f"{message}; a model needs two or more labels (--label NAME chooses another column)"


def _inspect_tags(args: argparse.Namespace) -> tuple[Reader, list[Example], Found]:
    path = args.file
    reader = choose_tags(path, args.column, args.language, not args.no_spans)
    left_out = LeftOut()
    sentences = list(reader.sentences(path, left_out))
    tags = Counter(tag for sentence in sentences for tag in sentence.tags)
    line = (
        f"{path} has {len(sentences):,} sentences of {tags.total():,} words, tags in "
        f"{reader.column}: {_counts_in_words(tags)}."
    )
    notes = list(alike_labels(tags))
    fields: dict[str, Any] = {"column": reader.column, "spans": reader.spans}
    if reader.kind_of(path) == "columns":
        fields["columns"] = reader.columns
        if unused := [name for name in reader.columns if name not in ("word", reader.column)]:
            notes.append(f"Columns that are not used: {listed(unused)}. --column NAME chooses one.")
    lines = [line, *about_tags(reader, path, sentences)]
    if left_out:
        notes.append(f"Left out: {left_out}.")
    return reader, list(read_examples(reader, path, LeftOut())), Found(lines, notes, fields, {})


def _counts_in_words(counts: Counter[str]) -> str:
    return listed([f"{name} ({number:,})" for name, number in counts.most_common()])

"""Splits a user's own data into stratified parts and folds, and reports the scores."""

import json
import os
import random
import shlex
import shutil
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common import Params
from allennlp.data import DatasetReader

from elmo_tasks.common.files import write_whole
from elmo_tasks.common.records import Record, read_rows, suffix_of
from elmo_tasks.common.rows import LeftOut
from elmo_tasks.common.text_files import at_line, numbered_lines
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.tag import TagReader
from elmo_tasks.readers.text_reader import text_of

# The folds that are not test data are split into this many parts. One part chooses the epoch.
_PARTS = 5

# A function that trains with the given overrides into a folder.
Train = Callable[[dict[str, Any], Path], Any]

# The readers of the tasks for a user's own data.
Reader = ClassifyReader | TagReader


class Example(NamedTuple):
    """
    A row of a table, or a sentence with tags. `lines` is its text in the file of a part. `split`
    distributes the examples of each `label` evenly, and keeps examples with equal `text` in one
    part.
    """

    lines: str
    label: str
    text: str


def read_examples(
    reader: Reader, path: str | os.PathLike, left_out: LeftOut | None = None
) -> Iterator[Example]:
    """
    Yields the examples of a file. The rows of tables become JSON. CoNLL-U stays as it is. In other
    files in columns, tabs separate the columns, and an index, comments and a header are left out.
    """
    if isinstance(reader, ClassifyReader):
        return row_examples(reader, read_rows(path), left_out)
    return _sentences(reader, path, left_out)


def row_examples(
    reader: ClassifyReader, records: Iterable[Record], left_out: LeftOut | None = None
) -> Iterator[Example]:
    """Yields an example for each row that has all texts and a label, and skips the other rows."""
    for record in reader.complete_rows(records, left_out):
        with at_line(record.file, record.line):
            label = reader.labels_of(record.values)
            text = json.dumps([text_of(record.values, name) for name in reader.texts])
        line = json.dumps(record.values, ensure_ascii=False, default=str)
        yield Example(f"{line}\n", label if isinstance(label, str) else "", text)


def part_suffix(reader: Reader, path: str | os.PathLike) -> str:
    """Returns the suffix of a file to which examples of `path` are written."""
    if isinstance(reader, ClassifyReader) or reader.kind_of(path) == "json":
        return ".jsonl"
    return ".tsv" if suffix_of(path) == ".csv" else suffix_of(path)


def split(examples: Sequence[Example], num_parts: int, seed: int) -> list[list[Example]]:
    """
    Splits examples into random parts of about equal sizes, with about equal numbers of examples of
    each label. Equal texts are in the same part. A part keeps the order of the examples.
    """
    indices: dict[str, list[int]] = {}
    for index, example in enumerate(examples):
        indices.setdefault(example.text, []).append(index)
    by_label: dict[str, list[list[int]]] = {}
    for equal_texts in indices.values():
        by_label.setdefault(examples[equal_texts[0]].label, []).append(equal_texts)
    chance = random.Random(seed)
    parts: list[list[int]] = [[] for _ in range(num_parts)]
    turn = 0
    for label in sorted(by_label):
        chance.shuffle(by_label[label])
        for equal_texts in by_label[label]:
            parts[turn % num_parts].extend(equal_texts)
            turn += 1
    return [[examples[index] for index in sorted(part)] for part in parts]


def is_own(config: dict[str, Any]) -> bool:
    """
    Returns whether a config is for a user's own data: the task is `classify` or `tag`, and the
    config names the metric that chooses the best epoch.
    """
    return (
        config.get("dataset_reader", {}).get("type") in ("elmo_classify", "elmo_tag")
        and "validation_metric" in config["trainer"]
    )


def metric_of(config: dict[str, Any]) -> str:
    """Returns the name of the metric that chooses the best epoch."""
    return config["trainer"]["validation_metric"].lstrip("+-")


def score_of(config: dict[str, Any], folder: Path, data: str = "best_validation") -> float:
    """
    Returns the score of a folder's training run on `data`, which is `best_validation` or `test`.
    """
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return metrics[f"{data}_{metric_of(config)}"]


def result_lines(config: dict[str, Any], folder: Path) -> list[str]:
    """
    Returns the lines to print after a training run on a user's own data: the score on the
    validation data, and a command that predicts. Returns no lines for other training runs.
    """
    if not is_own(config) or not (folder / "metrics.json").exists():
        return []
    dev = config["validation_data_path"]
    num_dev = sum(1 for _ in read_examples(_reader(config), dev, LeftOut()))
    unit = "rows" if config["dataset_reader"]["type"] == "elmo_classify" else "sentences"
    line = (
        f"{metric_of(config)}: {100 * score_of(config, folder):.1f}, on the {num_dev:,} {unit} of "
        f"{dev} that also chose the epoch"
    )
    command = shlex.join(["elmo-tasks", "predict", str(folder), dev])
    return [line, f"Predict with: {command}"]


def train_folds(config: dict[str, Any], folder: Path, num_folds: int, train: Train) -> list[float]:
    """
    Joins the training and the validation data, splits them into folds, and trains once for each
    fold. The fold is the test data of its training run. A fifth of the other folds is the
    validation data, which chooses the epoch. The other four fifths are the training data. A
    training run that an earlier call finished is not repeated. Only the scores are kept. Prints the
    number of each training run when it begins, and the time that is left.

    # Parameters

    config: The evaluated config of a training run of `classify` or `tag`.
    folder: The folder for the scores, `1.json`, `2.json`, ....

    # Returns

    The score of each training run on its test data.
    """
    reader = _reader(config)
    paths = [config["train_data_path"], config["validation_data_path"]]
    examples = [example for path in paths for example in read_examples(reader, path)]
    seed = config.get("random_seed", 1)
    folds = split(examples, num_folds, seed)
    scores: list[float] = []
    seconds: list[float] = []
    for number, test in enumerate(folds, start=1):
        result = folder / f"{number}.json"
        if not result.exists():
            num_left = num_folds - number + 1
            took = (
                f", about {_minutes(statistics.mean(seconds) * num_left)} left" if seconds else ""
            )
            # The training on all the data was the first one.
            print(f"Training {number + 1} of {num_folds + 1}, without fold {number}{took}.")
            start = time.monotonic()
            other_examples = [example for fold in folds if fold is not test for example in fold]
            dev, *train_parts = split(other_examples, _PARTS, seed)
            parts = {
                "train": [example for part in train_parts for example in part],
                "validation": dev,
            }
            overrides: dict[str, Any] = {"evaluate_on_test": True}
            training, data = folder / f"{number}", folder / f"{number}.data"
            for left_by_a_killed_training in (training, data):
                shutil.rmtree(left_by_a_killed_training, ignore_errors=True)
            data.mkdir(parents=True)
            for name, part_examples in {**parts, "test": test}.items():
                file = data / f"{name}{part_suffix(reader, paths[0])}"
                file.write_text(
                    "".join(example.lines for example in part_examples), encoding="utf-8"
                )
                overrides[f"{name}_data_path"] = str(file)
            train(overrides, training)
            score = score_of(config, training, "test")
            write_whole(result, json.dumps({metric_of(config): score}))
            shutil.rmtree(training)
            shutil.rmtree(data)
            seconds.append(time.monotonic() - start)
        scores.append(json.loads(result.read_text())[metric_of(config)])
    return scores


def folds_line(metric: str, scores: list[float]) -> str:
    """Returns the mean and the standard deviation of the scores, and all scores, in percent."""
    mean, deviation = 100 * statistics.mean(scores), 100 * statistics.stdev(scores)
    score_list = ", ".join(f"{100 * score:.1f}" for score in scores)
    return f"{metric} in {len(scores)} folds: {mean:.1f} ± {deviation:.1f} ({score_list})"


def _sentences(
    reader: TagReader, path: str | os.PathLike, left_out: LeftOut | None
) -> Iterator[Example]:
    kind = reader.kind_of(path)
    blocks = _blocks(path) if kind == "conllu" else iter(())
    for record, sentence in reader.records(path, left_out):
        if kind == "json":
            lines = f"{json.dumps(record.values, ensure_ascii=False)}\n"
        elif kind == "conllu":
            lines = next(blocks)
        else:
            tokens = zip(*record.values.values())
            lines = "".join("\t".join(values) + "\n" for values in tokens) + "\n"
        yield Example(lines, "", json.dumps(sentence.words))


def _blocks(path: str | os.PathLike) -> Iterator[str]:
    """Yields the lines of each sentence of a CoNLL-U file, comments included."""
    lines: list[str] = []
    for line in [*(line for _, line in numbered_lines(path)), ""]:
        if line.strip():
            lines.append(line)
        elif any(text_line.partition("\t")[0].isdecimal() for text_line in lines):
            yield "\n".join(lines) + "\n\n"
            lines = []


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _reader(config: dict[str, Any]) -> Reader:
    reader = DatasetReader.from_params(Params(dict(config["dataset_reader"])))
    assert isinstance(reader, Reader)
    return reader

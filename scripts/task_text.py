"""
Writes the text of a task for continuing a biLM on it (Peters et al. 2018, supplement A.1): the
tokenized sentences of a config's training data and of its validation data, each once, without
labels.

    python scripts/task_text.py training_configs/snli/paper.jsonnet runs/snli-text

The folder then has train.txt and heldout.txt, which training_configs/bilm/continue.jsonnet reads.
"""

import argparse
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.data import DatasetReader
from allennlp.data.fields import TextField

import elmo_tasks.plugin  # noqa: F401  registers the readers
from elmo_tasks.common.files import atomic_write

FILES = {"train_data_path": "train.txt", "validation_data_path": "heldout.txt"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the text of a task, one sentence a line.")
    parser.add_argument("config", help="the config of a task")
    parser.add_argument("folder", type=Path, help="the folder of the two files to write")
    parser.add_argument(
        "--fields", nargs="+", default=[], help="only these fields, such as passage (default: all)"
    )
    args = parser.parse_args()
    try:
        config = Params.from_file(args.config).as_dict(quiet=True)
        for name, file in FILES.items():
            num_texts = write(config, config[name], args.folder / file, args.fields)
            print(f"{args.folder / file}: {num_texts:,} texts")
    except (OSError, ValueError, RuntimeError) as error:
        # jsonnet reports an error as a RuntimeError.
        sys.exit(f"error: {error}")


def write(config: dict[str, Any], data_path: str, file: Path, fields: Collection[str] = ()) -> int:
    """Writes the whole file or nothing, and returns the number of texts."""
    found = dict.fromkeys(texts(config, data_path, fields))
    if not found:
        raise ValueError(f"{data_path} has no text in the fields {', '.join(fields) or '(all)'}")
    with atomic_write(file) as aside, open(aside, "w", encoding="utf-8") as lines:
        lines.writelines(f"{text}\n" for text in found)
    return len(found)


def texts(config: dict[str, Any], data_path: str, fields: Collection[str]) -> Iterator[str]:
    """Yields the text of each field of each instance, its tokens separated by blanks."""
    # The reader of the validation data gives whole sentences of SST, and whole passages of SQuAD.
    reader = config.get("validation_dataset_reader") or config["dataset_reader"]
    for instance in DatasetReader.from_params(Params(reader).duplicate()).read(data_path):
        for name, field in instance.fields.items():
            if isinstance(field, TextField) and (not fields or name in fields):
                yield " ".join(token.text for token in field.tokens)


if __name__ == "__main__":
    main()

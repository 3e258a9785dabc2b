"""
Converts movie reviews to JSON lines, which AllenNLP's `text_classification_json` reads. It reads

- a table with the columns `Sentiment` and `Text`, separated by tabs, like the original reviews of
  Kaushik et al. 2020 (github.com/acmi-lab/counterfactually-augmented-data, `sentiment/orig`);
- JSON lines with `label` and `text` and, if `--fold` is given, `fold`;
- a folder `train` or `test` of the Large Movie Review Dataset (Maas et al. 2011,
  ai.stanford.edu/~amaas/data/sentiment), where `--fold val` takes every fifth review, and
  `--fold train` the others.

    python scripts/imdb_json.py data/movie-reviews/imdb_cad_orig_train.tsv runs/imdb/train.jsonl
    python scripts/imdb_json.py aclImdb/train runs/imdb/train.jsonl --fold train
    python scripts/imdb_json.py aclImdb/train runs/imdb/dev.jsonl --fold val

HTML line breaks in the reviews become blanks.
"""

import argparse
import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.text_files import read_lines

COLUMNS = ["Sentiment", "Text"]


FOLDS = ["train", "val"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Converts movie reviews to JSON lines.")
    parser.add_argument(
        "reviews",
        type=Path,
        help="a table with the columns Sentiment and Text (.tsv), JSON lines with label and text"
        " (.jsonl, .jsonl.gz), or a folder with the folders pos and neg",
    )
    parser.add_argument("lines", type=Path, help="the JSON lines file to write")
    parser.add_argument(
        "--fold",
        choices=FOLDS,
        help="write a part: the JSON lines with this `fold`; of a folder, every fifth review (val)"
        " or the others (train)",
    )
    args = parser.parse_args()
    try:
        num_reviews = convert(args.reviews, args.lines, args.fold)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{args.lines}: {num_reviews:,} reviews")


def convert(reviews: Path, lines: Path, fold: str | None = None) -> int:
    """Writes the whole file or nothing, and returns the number of reviews."""
    num_reviews = 0
    with atomic_write(lines) as aside, open(aside, "w", encoding="utf-8") as file:
        for label, text in read(reviews, fold):
            file.write(json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n")
            num_reviews += 1
        if num_reviews == 0:
            raise ValueError(f"{reviews}: there is no review{f' of fold {fold}' if fold else ''}")
    return num_reviews


def read(reviews: Path, fold: str | None) -> Iterator[tuple[str, str]]:
    """
    Yields the label and the text of each review. Raises `ValueError` with file and line if the
    reviews cannot be read.
    """
    if reviews.is_dir():
        return read_folder(reviews, fold)
    if ".jsonl" in reviews.suffixes:
        return read_json_lines(reviews, fold)
    if fold is not None:
        raise ValueError(f"{reviews}: --fold is for JSON lines and folders, not for a table")
    return read_table(reviews)


def read_folder(folder: Path, fold: str | None) -> Iterator[tuple[str, str]]:
    for label in ("neg", "pos"):
        paths = sorted((folder / label).glob("*.txt"))
        if not paths:
            raise ValueError(f"{folder / label}: expected reviews in files *.txt, found none")
        for index, path in enumerate(paths):
            if fold is None or (fold == "val") == (index % 5 == 0):
                yield label, one_line(path.read_text(encoding="utf-8"))


def read_json_lines(path: Path, fold: str | None) -> Iterator[tuple[str, str]]:
    keys = ["label", "text"] if fold is None else ["label", "text", "fold"]
    for number, line in enumerate(read_lines(str(path)), start=1):
        try:
            review = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: not JSON: {error}") from error
        if not isinstance(review, dict) or not all(
            isinstance(review.get(key), str) for key in keys
        ):
            raise ValueError(f"{path}:{number}: expected an object with texts {', '.join(keys)}")
        if fold is None or review["fold"] == fold:
            yield review["label"], one_line(review["text"])


def read_table(table: Path) -> Iterator[tuple[str, str]]:
    rows = csv.reader(read_lines(str(table)), delimiter="\t", strict=True)
    try:
        header = next(rows, [])
        if header != COLUMNS:
            raise ValueError(f"expected the header {' '.join(COLUMNS)}, not {' '.join(header)!r}")
        for row in rows:
            review = [one_line(column) for column in row]
            if len(review) != 2 or not all(review):
                raise ValueError(f"expected a sentiment, a tab and a text, not {row!r:.80}")
            yield review[0], review[1]
        if rows.line_num == 1:
            raise ValueError("expected reviews after the header, but there are none")
    except (ValueError, csv.Error) as error:
        line = "" if str(error).startswith(str(table)) else f"{table}:{max(1, rows.line_num)}: "
        raise ValueError(f"{line}{error}") from error


def one_line(text: str) -> str:
    return re.sub(r"(<br ?/?>|\s)+", " ", text).strip()


if __name__ == "__main__":
    main()

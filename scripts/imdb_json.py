"""
Converts a table of movie reviews to JSON lines, which AllenNLP's `text_classification_json` reads.
The table has the columns `Sentiment` and `Text`, separated by tabs, like the original reviews of
Kaushik et al. 2020 (github.com/acmi-lab/counterfactually-augmented-data, `sentiment/orig`).

    python scripts/imdb_json.py data/movie-reviews/imdb_cad_orig_train.tsv runs/imdb/train.jsonl
    python scripts/imdb_json.py data/movie-reviews/imdb_cad_orig_dev.tsv runs/imdb/dev.jsonl

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


def main() -> None:
    parser = argparse.ArgumentParser(description="Converts a table of movie reviews to JSON lines.")
    parser.add_argument(
        "table", type=Path, help="a file with the columns Sentiment and Text, separated by tabs"
    )
    parser.add_argument("lines", type=Path, help="the JSON lines file to write")
    args = parser.parse_args()
    try:
        num_reviews = convert(args.table, args.lines)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{args.lines}: {num_reviews:,} reviews")


def convert(table: Path, lines: Path) -> int:
    """Writes the whole file or nothing, and returns the number of reviews."""
    num_reviews = 0
    with atomic_write(lines) as aside, open(aside, "w", encoding="utf-8") as file:
        for label, text in reviews(table):
            file.write(json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n")
            num_reviews += 1
    return num_reviews


def reviews(table: Path) -> Iterator[tuple[str, str]]:
    """
    Yields the label and the text of each review. Raises `ValueError` with file and line if the
    table cannot be read.
    """
    rows = csv.reader(read_lines(str(table)), delimiter="\t", strict=True)
    try:
        header = next(rows, [])
        if header != COLUMNS:
            raise ValueError(f"expected the header {' '.join(COLUMNS)}, not {' '.join(header)!r}")
        for row in rows:
            review = [re.sub(r"(<br ?/?>|\s)+", " ", column).strip() for column in row]
            if len(review) != 2 or not all(review):
                raise ValueError(f"expected a sentiment, a tab and a text, not {row!r:.80}")
            yield review[0], review[1]
        if rows.line_num == 1:
            raise ValueError("expected reviews after the header, but there are none")
    except (ValueError, csv.Error) as error:
        line = "" if str(error).startswith(str(table)) else f"{table}:{max(1, rows.line_num)}: "
        raise ValueError(f"{line}{error}") from error


if __name__ == "__main__":
    main()

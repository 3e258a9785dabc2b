"""
Makes JSON lines of movie reviews, as AllenNLP's `text_classification_json` reads them, of the
tables of Kaushik et al. 2020 (github.com/acmi-lab/counterfactually-augmented-data, the original
reviews): columns `Sentiment` and `Text`, separated by tabs.

    python scripts/imdb_json.py data/movie-reviews/imdb_cad_orig_train.tsv runs/imdb/train.jsonl
    python scripts/imdb_json.py data/movie-reviews/imdb_cad_orig_dev.tsv runs/imdb/dev.jsonl

The line breaks of HTML in the reviews become blanks.
"""

import argparse
import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from elmo_tasks.common.files import atomic_write
from elmo_tasks.readers.sentences import read_lines

COLUMNS = ["Sentiment", "Text"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes JSON lines of a table of movie reviews.")
    parser.add_argument("table", type=Path, help="columns Sentiment and Text, by tabs")
    parser.add_argument("lines", type=Path, help="the file to write")
    args = parser.parse_args()
    try:
        number = convert(args.table, args.lines)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{args.lines}: {number:,} reviews")


def convert(table: Path, lines: Path) -> int:
    """Writes the file whole or not at all, and returns the number of reviews."""
    number = 0
    with atomic_write(lines) as aside, open(aside, "w", encoding="utf-8") as file:
        for label, text in reviews(table):
            file.write(json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n")
            number += 1
    return number


def reviews(table: Path) -> Iterator[tuple[str, str]]:
    """Label and text of each; raises `ValueError` with file and line where it cannot be read."""
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
        place = "" if str(error).startswith(str(table)) else f"{table}:{max(1, rows.line_num)}: "
        raise ValueError(f"{place}{error}") from error


if __name__ == "__main__":
    main()

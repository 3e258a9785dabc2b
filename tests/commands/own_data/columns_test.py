import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.commands.own_data.columns import choose_columns
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import read_records


def chosen(folder: Path, row: dict[str, Any], name: str = "data.jsonl", **given: Any) -> Any:
    path = folder / name
    header = ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n"
    path.write_text(json.dumps(row) + "\n" if name.endswith("l") else header)
    reader = choose_columns(list(read_records(path)), **given)
    return reader.texts, reader.label, reader.separator


# The first row, what the user gives, and the columns that are chosen.
CHOSEN: list[tuple[dict[str, Any], dict[str, Any], tuple[Any, ...]]] = [
    ({"id": 1, "review": "Soup.", "stars": 2}, {}, (["review"], "stars", None)),
    ({"Text": "Soup.", "name": "x", "Label": "a"}, {}, (["Text"], "Label", None)),
    (
        {"question2": "?", "question1": "!", "target": 1},
        {},
        (["question1", "question2"], "target", None),
    ),
    ({"first": "A", "second": "B", "answer": "no"}, {}, (["first", "second"], "answer", None)),
    ({"Satz": "Suppe.", "Label": "a"}, {"texts": ["Satz"]}, (["Satz"], "Label", None)),
    ({"text": "Suppe.", "Klasse": "a"}, {"label": "Klasse"}, (["text"], "Klasse", None)),
    ({"text": "Soup.", "labels": ["a"]}, {}, (["text"], "labels", ";")),
    (
        {"text": "Soup.", "title": "Soup", "label": "a", "mood": "x"},
        {"texts": ["title", "text"], "label": "mood", "separator": "|"},
        (["title", "text"], "mood", "|"),
    ),
    ({"label": "Soup.", "topic": "x"}, {"texts": ["label"]}, (["label"], "topic", None)),
]


@pytest.mark.parametrize(("row", "given", "expected"), CHOSEN)
def test_columns_are_known_by_their_names(
    row: dict[str, Any], given: dict[str, Any], expected: tuple[Any, ...], tmp_path: Path
) -> None:
    assert chosen(tmp_path, row, **given) == expected


TABLE = {"Dull.": "Fine.", "bad": "good", "3": "4"}
# The first row, the name of the file, what the user gives, and words of the message.
ASKED: list[tuple[dict[str, Any], str, dict[str, Any], str]] = [
    ({"text": "Soup.", "a": 1}, "a.jsonl", {}, "a.jsonl: name .* --label; there are text, a"),
    (TABLE, "a.csv", {}, "of the texts with --text, or give --no-header .* are Dull., bad"),
    ({"text": "Soup."}, "a.csv", {"label": "tex"}, "no column tex; did you mean 'text'"),
    ({"text": "Soup."}, "a.csv", {"texts": ["body"]}, "no column body; there are text"),
]


@pytest.mark.parametrize(("row", "name", "given", "words"), ASKED)
def test_what_is_not_known_is_asked_for(
    row: dict[str, Any], name: str, given: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        chosen(tmp_path, row, name, **given)

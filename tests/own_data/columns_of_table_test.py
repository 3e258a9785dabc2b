import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.own_data.columns_of_table import Columns, choose_columns

LONG = ["The ferry was late and cold.", "A fine soup, twice.", "She sang well.", "We slept."]


def table(folder: Path, **columns: list[Any]) -> Path:
    path = folder / "data.jsonl"
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"id": "abcd", "review": LONG, "stars": [1, 2, 1, 2]}, Columns(["review"], "stars", None)),
        ({"k": "abcd", "w": "xyxy", "what": LONG}, Columns(["what"], "w", None)),
        ({"Text": LONG, "name": LONG[::-1], "Label": "aabb"}, Columns(["Text"], "Label", None)),
        (
            {"question2": LONG, "question1": LONG, "same": [True, False] * 2},
            Columns(["question1", "question2"], "same", None),
        ),
        (
            {"text": LONG, "topics": [["a"], ["a", "b"], [], ["b"]]},
            Columns(["text"], "topics", ";"),
        ),
        (
            {"text": LONG, "label": ["a", "a | b", "b|c", "c | a"]},
            Columns(["text"], "label", "|"),
        ),
        ({"text": LONG, "label": ["a, b", "c", "a, b", "c"]}, Columns(["text"], "label", None)),
    ],
)
def test_columns_are_found_by_their_names_and_values(
    columns: dict[str, Any], expected: Columns, tmp_path: Path
) -> None:
    assert choose_columns(table(tmp_path, **columns)) == expected


def test_columns_that_are_given_are_taken(tmp_path: Path) -> None:
    path = table(tmp_path, text=LONG, title=LONG, label=["a", "a", "b", "b"], mood=["x"] * 4)

    assert choose_columns(path, ["title"], "mood", ";") == Columns(["title"], "mood", ";")


@pytest.mark.parametrize(
    ("columns", "given", "complaint"),
    [
        (
            {"text": LONG, "id": [1, 2, 3, 4]},
            {},
            "no column seems to have labels; .* --label, one of id",
        ),
        ({"id": [1, 2, 1, 2]}, {}, "no column seems to have texts; name it with --text, one of id"),
        ({"text": LONG}, {"label": "mood"}, "has no column mood; there are text"),
        ({"text": LONG}, {"texts": ["body"]}, "has no column body; there are text"),
    ],
)
def test_what_is_not_found_is_asked_for(
    columns: dict[str, Any], given: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        choose_columns(table(tmp_path, **columns), **given)

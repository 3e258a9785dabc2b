import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance, Vocabulary

from elmo_tasks.readers.classify import SEVERAL, ClassifyReader
from elmo_tasks.readers.text_reader import sentences_of

FIXTURE = Path(__file__).parents[2] / "fixtures" / "classify.csv"


def read(folder: Path, rows: list[dict[str, Any]], **settings: Any) -> list[Instance]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(ClassifyReader(**settings).read(path))


def test_a_text_is_read_sentence_by_sentence_with_its_label() -> None:
    instances = list(ClassifyReader().read(FIXTURE))

    first = [[token.text for token in each] for each in sentences_of(instances[0]["tokens"])]
    assert len(instances) == 10
    assert " ".join(first[0]) == "The ferry was an hour late , and nobody told us why ."
    assert " ".join(first[1]) == "We waited in the rain ."
    assert instances[0]["metadata"].metadata == {"sentences": [first], "line": 2, "id": "1"}
    assert [each["label"].label for each in instances[:3]] == ["travel", "travel", "food"]


def test_columns_are_chosen_by_name_and_there_may_be_two_texts(tmp_path: Path) -> None:
    rows = [{"title": "Cold soup", "body": "Twice. And late.", "stars": 2, "id": None}]

    (instance,) = read(tmp_path, rows, texts=["title", "body"], label="stars")

    assert instance["label"].label == "2"
    assert [token.text for token in instance["tokens"]] == ["Cold", "soup"]
    assert [token.text for token in instance["second"]] == ["Twice", ".", "And", "late", "."]


# The value of a row, the separator of the labels, and the labels.
LABELS: list[tuple[Any, str | None, Any]] = [
    *[(value, None, text) for value, text in (("good", "good"), (3, "3"), (True, "true"))],
    (0.5, None, "0.5"),
    *[(value, None, "1") for value in (1, 1.0, "1", "1.0", " 1 ")],
    *[(value, None, "false") for value in (False, "False", "FALSE")],
    ("cold; late;cold", ";", ["cold", "late"]),
    ("", ";", []),
    (None, ";", []),
    ([], ";", []),
    (["late"], ";", ["late"]),
]


@pytest.mark.parametrize(("value", "separator", "expected"), LABELS)
def test_a_row_has_one_label_or_with_a_separator_any_number(
    value: Any, separator: str | None, expected: Any, tmp_path: Path
) -> None:
    (instance,) = read(tmp_path, [{"text": "Soup", "label": value}], separator=separator)

    field = instance["label"]
    assert (field.label if separator is None else field.labels) == expected
    if separator is not None:
        vocab = Vocabulary.from_instances([instance])
        assert sorted(vocab.get_token_to_index_vocabulary(SEVERAL)) == sorted(expected)


def test_rows_without_a_text_or_a_label_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows: list[dict[str, Any]] = [{"text": text, "label": "a"} for text in ("Soup", " ", None)]
    rows += [{"text": "Tea", "label": ""}, {"text": "Tea"}, {"text": "Tea", "label": float("nan")}]

    with caplog.at_level(logging.WARNING):
        assert len(read(tmp_path, rows)) == 1
    assert (
        "rows.jsonl: left out 2 rows without a text (lines 2, 3), 3 rows without a label (lines "
        "4, 5, 6)\n"
    ) in caplog.text


def test_a_number_is_a_text_as_in_a_table(tmp_path: Path) -> None:
    (instance,) = read(tmp_path, [{"text": 1984.0, "label": "book"}])

    assert [token.text for token in instance["tokens"]] == ["1984"]


@pytest.mark.parametrize("settings", [{}, {"separator": ";"}])
def test_a_label_that_the_training_lacks_is_named_with_its_line(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    vocab = Vocabulary.from_instances(read(tmp_path, [{"text": "Soup", "label": "a"}], **settings))
    rows = [{"text": "Soup", "label": "a"}, {"text": "Soup", "label": "b"}]
    _, instance = read(tmp_path, rows, **settings)

    with pytest.raises(ValueError, match="rows.jsonl:2: .*'b'"):
        instance.index_fields(vocab)

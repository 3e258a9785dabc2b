import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance, Vocabulary

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.classify import SEVERAL, ClassifyReader
from elmo_tasks.readers.text_fields import sentences_of

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
    assert instances[0]["metadata"].metadata == {"sentences": [first]}
    assert [each["label"].label for each in instances[:3]] == ["travel", "travel", "food"]


def test_columns_are_chosen_by_name_and_there_may_be_two_texts(tmp_path: Path) -> None:
    rows = [{"title": "Cold soup", "body": "Twice. And late.", "stars": 2, "id": None}]

    (instance,) = read(tmp_path, rows, texts=["title", "body"], label="stars")

    assert instance["label"].label == "2"
    assert [token.text for token in instance["tokens"]] == ["Cold", "soup"]
    assert [token.text for token in instance["second"]] == ["Twice", ".", "And", "late", "."]


@pytest.mark.parametrize(
    ("value", "expected"), [("good", "good"), (3, "3"), (True, "true"), (0.5, "0.5")]
)
def test_a_label_may_be_a_number(value: Any, expected: str, tmp_path: Path) -> None:
    (instance,) = read(tmp_path, [{"text": "Soup", "label": value}])

    assert instance["label"].label == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("cold; late;cold", ["cold", "late"]), (["late"], ["late"]), ("", []), (None, []), ([], [])],
)
def test_a_text_may_have_several_labels(value: Any, expected: list[str], tmp_path: Path) -> None:
    (instance,) = read(tmp_path, [{"text": "Soup", "label": value}], separator=";")
    vocab = Vocabulary.from_instances([instance])

    assert instance["label"].labels == expected
    assert sorted(vocab.get_token_to_index_vocabulary(SEVERAL)) == sorted(expected)


def test_rows_without_a_word_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{"text": text, "label": "a"} for text in ("Soup", " ", None)]

    with caplog.at_level(logging.WARNING):
        assert len(read(tmp_path, rows)) == 1
    assert "left out 2 rows without a word" in caplog.text


@pytest.mark.parametrize("settings", [{}, {"separator": ";"}])
def test_a_label_that_the_training_lacks_is_named_with_its_line(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    vocab = Vocabulary.from_instances(read(tmp_path, [{"text": "Soup", "label": "a"}], **settings))
    rows = [{"text": "Soup", "label": "a"}, {"text": "Soup", "label": "b"}]
    _, instance = read(tmp_path, rows, **settings)

    with pytest.raises(ValueError, match="rows.jsonl:2: the model does not know the label 'b'"):
        instance.index_fields(vocab)


@pytest.mark.parametrize("texts", [[], ["a", "a"], ["a", "b", "c"]])
def test_other_than_one_or_two_columns_are_refused(texts: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="one or two columns"):
        ClassifyReader(texts=texts)


@pytest.mark.parametrize("name", ["max_tokens", "max_sentence_tokens"])
def test_a_number_of_tokens_is_at_least_1(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} must be 1 or more"):
        ClassifyReader(**{name: 0})  # type: ignore[arg-type]

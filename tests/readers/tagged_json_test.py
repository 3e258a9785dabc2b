"""The tags in the JSON of other tools: Hugging Face, doccano, Prodigy, Label Studio."""

import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.commands.own_data.tags import choose_tags
from elmo_tasks.readers.tagged_json import as_input

TEXT = "Tomas Berg lives in Lindvik ."
WORDS, TAGS = TEXT.split(), ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]
SPANS: Any = [[0, 10, "PER"], [20, 27, "LOC"]]
OBJECTS = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]
OFFSETS = [
    {"id": start, "start_offset": start, "end_offset": end, "label": label}
    for start, end, label in SPANS
]
REGIONS = [
    {"value": {"start": start, "end": end, "labels": [label]}, "type": "labels"}
    for start, end, label in SPANS
]

# Records of several tools, all with the same words and spans.
RECORDS: dict[str, dict[str, Any]] = {
    "ner_tags": {"id": "0", "tokens": WORDS, "pos_tags": WORDS, "ner_tags": TAGS},
    "labels": {"words": WORDS, "labels": TAGS},
    "label": {"text": TEXT, "label": SPANS},
    "entities": {"text": TEXT, "entities": OFFSETS, "relations": []},
    "spans": {"text": TEXT, "tokens": [{"text": word} for word in WORDS], "spans": OBJECTS},
    "annotations": {
        "data": {"text": TEXT},
        "annotations": [{"was_cancelled": True, "result": []}, {"result": REGIONS}],
    },
}
# Spans in a field with the name of Label Studio's annotations.
PLAIN = {"text": TEXT, "annotations": OBJECTS}
BLANKS = {"text": TEXT, "label": [[0, 11, "PER"], [19, 28, "LOC"]]}


def in_file(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.mark.parametrize("column", RECORDS)
def test_the_tags_of_other_tools_are_found_and_read(column: str, tmp_path: Path) -> None:
    path = in_file(tmp_path, RECORDS[column])

    reader = choose_tags(path, None, "en")

    assert (reader.column, reader.spans) == (column, True)
    assert [(each.words, each.tags) for each in reader.sentences(path)] == [(WORDS, TAGS)]


def test_blanks_around_a_span_are_no_part_of_it_and_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = in_file(tmp_path, RECORDS["label"], BLANKS, BLANKS)

    found = choose_tags(path, None, "en").sentences(path)

    assert [(each.words, each.tags) for each in found] == [(WORDS, TAGS)] * 3
    assert caplog.messages == [
        f"{path}: spans that lose the blanks at their ends: 4, the first in line 2: 'Tomas Berg '"
    ]


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([[20, 25, "LOC"]], "the span 20 to 25, 'Lindv', does not begin and end with a word"),
        ([[0, 10, "A"], [6, 16, "B"]], "two spans overlap: 'Tomas Berg' and 'Berg lives'"),
    ],
)
def test_a_text_whose_spans_no_tags_can_mark_is_left_out_and_counted(
    spans: Any, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    odd = {"text": TEXT, "label": spans}
    path = in_file(tmp_path, RECORDS["label"], odd, odd)

    sentences = list(choose_tags(path, None, "en").sentences(path))

    assert [each.tags for each in sentences] == [TAGS]
    assert caplog.messages == [
        f"{path}: left out 2 texts with spans that tags cannot mark, the first in line 2: {reason}"
        "; mend the spans to keep them"
    ]
    with pytest.raises(ValueError, match=":1: the span|:1: two spans"):
        choose_tags(in_file(tmp_path, odd), None, "en")


def test_what_nobody_annotated_is_no_text_without_spans(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task, skipped = RECORDS["annotations"], {"was_cancelled": True, "result": []}
    annotations: list[list[Any]] = [[], [skipped], [{"result": []}]]
    tasks = [{**task, "annotations": each} for each in annotations]
    path = in_file(tmp_path, task, *tasks)
    reader = choose_tags(path, None, "en")
    assert [each.tags for each in reader.sentences(in_file(tmp_path, PLAIN))] == [TAGS]
    path = in_file(tmp_path, task, *tasks)

    assert [each.tags for each in reader.sentences(path)] == [TAGS, ["O"] * 6]
    assert caplog.messages == [f"{path}: left out 2 rows without an annotation (lines 2, 3)"]


def test_texts_of_several_annotators_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    both = [{"result": REGIONS}, {"result": []}]
    path = in_file(tmp_path, {**RECORDS["annotations"], "annotations": both})

    (sentence,) = choose_tags(path, None, "en").sentences(path)

    assert sentence.tags == TAGS
    assert caplog.messages == [
        f"{path}: texts with several annotations, of which the first is read: 1, the first in "
        "line 1"
    ]


def test_numbers_without_names_are_refused_with_what_to_do(tmp_path: Path) -> None:
    path = in_file(tmp_path, {"tokens": WORDS, "ner_tags": [1, 2, 0, 0, 3, 0]})

    with pytest.raises(ValueError, match=":1: ner_tags has numbers, .* file does not name them"):
        choose_tags(path, None, "en")


def test_numbers_in_parquet_have_the_names_of_its_metadata(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = ["O", "B-PER", "I-PER", "B-LOC"]
    numbers = [names.index(tag) for tag in TAGS]
    label = {"names": names, "_type": "ClassLabel"}
    for feature in (
        {"feature": label, "_type": "Sequence"},
        {"feature": label, "_type": "List"},
        [label],
    ):
        about = {"info": {"features": {"ner_tags": feature, "tokens": {"_type": "Sequence"}}}}
        table = pyarrow.table({"tokens": [WORDS], "ner_tags": [numbers]})
        table = table.replace_schema_metadata({"huggingface": json.dumps(about)})
        path = tmp_path / "in.parquet"
        parquet.write_table(table, path)

        reader = choose_tags(path, None, "en")

        assert (reader.column, reader.spans) == ("ner_tags", True)
        assert [(each.words, each.tags) for each in reader.sentences(path)] == [(WORDS, TAGS)]
    without = tmp_path / "without.parquet"
    parquet.write_table(table.replace_schema_metadata(None), without)
    with pytest.raises(ValueError, match="without.parquet:1: ner_tags"):
        choose_tags(without, None, "en")


@pytest.mark.parametrize("column", RECORDS)
def test_a_predictor_gets_the_words_or_the_text_of_a_record(column: str) -> None:
    inputs = as_input(RECORDS[column])

    assert inputs.get("tokens", WORDS) == WORDS
    assert "tokens" in inputs or inputs["text"] == TEXT
    assert as_input({"sentence": TEXT, "id": 1}) == {"sentence": TEXT, "id": 1}

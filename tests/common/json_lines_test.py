import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from elmo_tasks.common.json_lines import json_lines
from elmo_tasks.common.records import read_records, read_rows

VALUES = st.dictionaries(
    st.text(max_size=3),
    st.recursive(st.none() | st.text(max_size=5) | st.integers(), st.lists),
    min_size=1,
)


@given(st.lists(VALUES, min_size=1, max_size=5), st.sampled_from([None, 0, 2]), st.booleans())
def test_objects_are_read_from_every_layout(
    tmp_path_factory: pytest.TempPathFactory,
    objects: list[dict[str, Any]],
    indent: int | None,
    is_array: bool,
) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    apart = "\n".join(json.dumps(each, indent=indent) for each in objects)
    path.write_text(json.dumps(objects, indent=indent) if is_array else apart)

    records = list(read_records(path))

    assert [each.values for each in records] == objects
    # Each object begins in the line that is named.
    starts = [path.read_text().split("\n")[each.line - 1].lstrip()[0] for each in records]
    assert starts == ["[" if is_array and indent is None else "{"] * len(objects)


ANNOTATED: list[Any] = [
    ["Oslo .", {"entities": [[0, 4, "LOC"]]}],
    ["Bergen \u2028 .", {"entities": []}],
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ANNOTATED),
        json.dumps(ANNOTATED, indent=1),
        "\n".join(map(json.dumps, ANNOTATED)),
        f"[\n{json.dumps(ANNOTATED[0])},\n{json.dumps(ANNOTATED[1])}\n]\n",
    ],
)
def test_texts_with_their_annotations_are_objects(text: str, tmp_path: Path) -> None:
    # As in spaCy 2's training data.
    (tmp_path / "a.json").write_text(text)

    records = list(read_records(tmp_path / "a.json"))

    expected = [{"text": line, **annotations} for line, annotations in ANNOTATED]
    assert [each.values for each in records] == expected
    # An array is known by its content.
    (tmp_path / "a.txt").write_text(json.dumps(ANNOTATED))
    assert [each.values for each in read_rows(tmp_path / "a.txt")] == expected
    (tmp_path / "a.json").write_text(json.dumps(ANNOTATED[0]))
    assert [each.line for each in read_records(tmp_path / "a.json")] == [1]


# The text of a file, and words of the message.
PANDAS = 'to_json\\(path, orient="records", lines=True\\)'
REFUSED = [
    ('[{"a": 1},\n 2]', "a.json:2: .* not '2'"),
    ('[{"a": 1},\n\n {"a" 2}]', "a.json:3: .*: '{\"a\" 2}\\]'"),
    ('[{"a": 1},\n {"a": 2}', "a.json:2: not JSON: the file ends before its array does"),
    ('{\n "a": 1,\n', "a.json:1: not JSON: "),
    ('{"a": 1\n{"a": 2}\n', "a.json:1: not JSON: Expecting ',' delimiter"),
    ('{"text": {"0": "a", "1": "b"}, "label": {"0": 1, "1": 2}}', f"a.json:1: .*{PANDAS}"),
    ('{"0": {"text": "a"},\n "1": {"text": "b"}}', f"a.json:1: .*{PANDAS}"),
    ('{"columns": ["text"], "index": [0], "data": [["a"]]}', f"a.json:1: .*{PANDAS}"),
    ("[" * 100_000, "a.json:1: .*JSON"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_is_no_object_is_refused_with_its_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)

    with pytest.raises(ValueError, match=words) as caught:
        list(read_records(tmp_path / "a.json"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", ['{"a": 1', "[1]", '["a"]'])
def test_a_first_line_that_is_no_object_leaves_the_others(bad: str) -> None:
    lines = [(1, bad), (2, '{"a": 2}'), (3, '{"a": 3}')]

    assert list(json_lines(iter(lines), "a.jsonl")) == lines


def test_the_objects_of_an_array_may_be_lines_between_commas(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[\n{"a": 1}\n,\n{"a": 2}\n]\n')

    assert [each.values for each in read_records(tmp_path / "a.json")] == [{"a": 1}, {"a": 2}]


def test_an_empty_array_has_no_object(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[\n]\n")

    assert not list(read_records(tmp_path / "a.json"))


def test_an_object_is_read_before_the_next_line_is_there() -> None:
    def lines() -> Iterator[tuple[int, str]]:
        yield 1, '{"a": 1}'
        pytest.fail("the next line was read")

    assert next(json_lines(lines(), "standard input")) == (1, '{"a": 1}')

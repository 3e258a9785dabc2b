import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.passage import GoldAnswer, Passage
from elmo_tasks.readers.squad_file import parse_squad, read_squad
from elmo_tasks.readers.tokenizers import SplittingTokenizer

FIXTURE = Path(__file__).parents[2] / "fixtures" / "squad.json"


def test_questions_of_every_paragraph_are_read_with_their_place() -> None:
    questions = read_squad(FIXTURE)

    assert [each.id for each in questions[:2]] == ["harbour-1", "harbour-2"]
    assert len(questions) == 13
    assert questions[4].path == "data[0].paragraphs[1].qas[0]"
    assert questions[4].answers[0] == GoldAnswer("1920", 7)
    assert all(answer.is_in(each.passage) for each in questions for answer in each.answers)


def test_what_has_no_question_is_passed_over_and_answers_may_be_missing() -> None:
    unanswered = {"id": "1", "question": "Who?", "is_impossible": True}
    # A passage without a word is allowed if there are no questions about it.
    paragraphs = [{"context": "x"}, {"context": "", "qas": []}]
    asked = {"paragraphs": [*paragraphs, {"context": "The owl.", "qas": [unanswered]}]}

    (read,) = parse_squad({"data": [{"title": "Nothing"}, {"paragraphs": []}, asked]})

    assert (read.answers, read.is_impossible) == ([], True)
    assert read.path == "data[2].paragraphs[2].qas[0]"


@given(st.text(alphabet=" ab-\u00a0é🍲'", max_size=20), st.integers(0, 20), st.integers(1, 20))
def test_tokens_are_those_that_a_search_finds(text: str, start: int, length: int) -> None:
    tokens = SplittingTokenizer().tokenize(text)
    overlapping = [
        index
        for index, token in enumerate(tokens)
        if set(range(token.idx, token.idx_end)) & set(range(start, start + length))
    ]
    passage = Passage.of(text, tokens)

    found = passage.tokens_of(start, start + length)

    assert found == ((overlapping[0], overlapping[-1]) if overlapping else None)
    if found is not None:
        first, last = passage.characters_of(*found)
        assert first == tokens[overlapping[0]].idx and last == tokens[overlapping[-1]].idx_end
        assert passage.text_of(*found) == text[first:last]


PASSAGE = "The mill \U0001f600 burnt in 1910. Ann left."
ANSWER = {"text": "1910", "answer_start": 20}
ASKED = {"id": "a", "question": "When?", "answers": [ANSWER]}
FLAT = {**ASKED, "context": PASSAGE}
OF_LISTS: dict[str, Any] = {"text": ["1910", "in 1910"], "answer_start": [20, 17]}

# What stands in a file, and the answers of its only question.
ANSWERS: list[tuple[dict[str, Any], list[GoldAnswer]]] = [
    ({"answers": OF_LISTS}, [GoldAnswer("1910", 20), GoldAnswer("in 1910", 17)]),
    ({"answers": {"text": [], "answer_start": []}}, []),
    (
        {"answers": [OF_LISTS, ANSWER]},
        [GoldAnswer("1910", 20), GoldAnswer("in 1910", 17), GoldAnswer("1910", 20)],
    ),
    ({"answers": None}, []),
    ({"answer": ANSWER}, [GoldAnswer("1910", 20)]),
    ({"answer": "1910"}, [GoldAnswer("1910", None)]),
    ({"answers": ["1910", "Ann"]}, [GoldAnswer("1910", None), GoldAnswer("Ann", None)]),
    ({"answers": [{"text": "1910", "answer_start": "20"}]}, [GoldAnswer("1910", 20)]),
    ({"answers": [{"text": "1910", "answer_start": 20.0}]}, [GoldAnswer("1910", 20)]),
    ({"answers": [{"text": 1910, "answer_start": 20}]}, [GoldAnswer("1910", 20)]),
    ({"answers": [{"text": " 1910 ", "answer_start": 19}]}, [GoldAnswer("1910", 20)]),
    ({"answers": [{"text": "1910"}]}, [GoldAnswer("1910", None)]),
]


@pytest.mark.parametrize(("answers", "expected"), ANSWERS)
def test_answers_are_read_in_the_shapes_that_tools_write(
    answers: dict[str, Any], expected: list[GoldAnswer]
) -> None:
    asked = {"id": "a", "question": "When?", **answers}

    (read,) = parse_squad({"data": [{"paragraphs": [{"context": PASSAGE, "qas": [asked]}]}]})

    assert read.answers == expected


PARAGRAPH = {"context": PASSAGE, "qas": [ASKED]}
SHAPES: list[tuple[Any, str]] = [
    (
        {"version": 1, "data": [{"title": "M", "paragraphs": [PARAGRAPH]}]},
        "data[0].paragraphs[0].qas[0]",
    ),
    ([{"title": "M", "paragraphs": [PARAGRAPH]}], "[0].paragraphs[0].qas[0]"),
    ({"data": [FLAT]}, "data[0]"),
    ({"data": [PARAGRAPH]}, "data[0].qas[0]"),
    ({"paragraphs": [PARAGRAPH]}, "paragraphs[0].qas[0]"),
    ([FLAT], "[0]"),
]


@pytest.mark.parametrize(("content", "path"), SHAPES)
@pytest.mark.parametrize("indent", [None, 1])
def test_lists_may_nest_in_any_way_that_tools_write(
    content: Any, path: str, indent: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "squad.json"
    file.write_text("\ufeff" + json.dumps(content, indent=indent), encoding="utf-8")

    (read,) = read_squad(file)

    assert read[:-1] == ("a", "When?", PASSAGE, [GoldAnswer("1910", 20)], False, path)


def test_json_lines_and_parquet_are_read_with_their_lines(tmp_path: Path) -> None:
    rows = [{**FLAT, "answers": OF_LISTS, "title": "M"}, {**FLAT, "answers": OF_LISTS, "id": "b"}]
    lines, table = tmp_path / "squad.jsonl", tmp_path / "squad.parquet"
    lines.write_text("\n".join(json.dumps(each) for each in [*rows, PARAGRAPH]))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), table)

    of_lines, of_table = read_squad(lines), read_squad(table)

    assert of_lines[:2] == of_table
    assert [(each.id, each.path) for each in of_lines] == [
        ("a", "1"),
        ("b", "2"),
        ("a_2", "3: qas[0]"),
    ]
    assert of_lines[2].origin(lines) == f"{lines}:3: qas[0]"
    lines.write_text(f"{json.dumps(FLAT)}\n\n{json.dumps({**FLAT, 'answers': 5})}\n")
    with pytest.raises(ValueError, match="squad.jsonl:3: answers: "):
        read_squad(lines)


def test_ids_are_made_unique_and_this_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ids: list[Any] = [7, None, "a", "a", "7", "a_2", "a"]
    qas = [{**ASKED, "id": id} for id in ids] + [{"question": "Who?"}]
    file = tmp_path / "squad.json"
    file.write_text(json.dumps([{"context": PASSAGE, "qas": qas}]))

    found = [each.id for each in read_squad(file)]

    assert found == ["7", "[0].qas[1]", "a", "a_2", "7_2", "a_2_2", "a_3", "[0].qas[7]"]
    assert "2 questions without an id are called by their places, such as [0].qas[1]" in caplog.text
    assert "4 questions with the id ID of an earlier one are called ID_2" in caplog.text


@given(st.text(alphabet="ab \U0001f600", max_size=30), st.integers(0, 30), st.integers(1, 8))
def test_an_offset_that_counts_as_utf_16_does_is_understood(
    passage: str, start: int, length: int
) -> None:
    text = passage[start : start + length]
    in_utf_16 = len(passage[:start].encode("utf-16-le")) // 2

    found = GoldAnswer(text, in_utf_16).found_in(passage)

    # Another occurrence may stand just at the offset that the file gives.
    if not text:
        assert found is None
    elif passage.startswith(text, in_utf_16):
        assert found == GoldAnswer(text, in_utf_16)
    else:
        assert found == GoldAnswer(text, start)


@given(st.text(alphabet="abc", max_size=80), st.text("abc", max_size=3), st.integers(-3, 90))
def test_a_place_is_the_only_one_nearby(passage: str, text: str, start: int) -> None:
    found = GoldAnswer(text, start).found_in(passage)

    places = [place for place in range(len(passage)) if text and passage.startswith(text, place)]
    near = [place for place in places if start >= 0 and abs(place - start) <= 32]
    if start in near:
        assert found == GoldAnswer(text, start)
    else:
        assert found == (GoldAnswer(text, near[0]) if len(near) == 1 else None)


@given(st.text(alphabet="abc", max_size=20), st.text("abc", max_size=3))
def test_an_answer_without_a_start_must_stand_once_in_the_passage(passage: str, text: str) -> None:
    places = [place for place in range(len(passage)) if text and passage.startswith(text, place)]

    found = GoldAnswer(text, None).found_in(passage)

    assert found == (GoldAnswer(text, places[0]) if len(places) == 1 else None)

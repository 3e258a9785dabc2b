from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.readers.squad_file import Answer, parse_squad, read_squad

FIXTURE = Path(__file__).parents[2] / "fixtures" / "squad.json"


def question(id: str = "1", **changes: Any) -> dict[str, Any]:
    answers = [{"text": "owl", "answer_start": 4}]
    return {"id": id, "question": "Who?", "answers": answers, **changes}


def content(*qas: Any, **changes: Any) -> dict[str, Any]:
    paragraph = {"context": "The owl sleeps.", "qas": list(qas), **changes}
    return {"version": "1.1", "data": [{"title": "Owls", "paragraphs": [paragraph]}]}


def test_questions_of_every_paragraph_are_read_with_their_place() -> None:
    questions = read_squad(FIXTURE)

    assert [each.id for each in questions[:2]] == ["harbour-1", "harbour-2"]
    assert len(questions) == 13
    assert questions[4].path == "data[0].paragraphs[1].qas[0]"
    assert questions[4].answers[0] == Answer("1920", 7)
    assert all(answer.is_in(each.passage) for each in questions for answer in each.answers)


def test_articles_and_paragraphs_without_questions_are_passed_over() -> None:
    empty = {"version": "1.1", "data": [{"title": "Nothing", "paragraphs": []}]}

    assert parse_squad(empty) == []
    assert parse_squad({"data": [{"title": "Nothing"}, {"paragraphs": [{"context": "x"}]}]}) == []
    # A passage without a word is allowed if there are no questions about it.
    assert parse_squad(content(context="")) == []


def test_answers_may_be_missing_and_a_question_impossible() -> None:
    unanswered = question(is_impossible=True)
    del unanswered["answers"]

    (read,) = parse_squad(content(unanswered))

    assert (read.answers, read.is_impossible) == ([], True)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (Answer("owl", 4), True),
        (Answer("owl", 3), False),
        (Answer("owl", -11), False),
        (Answer("owl", 400), False),
        (Answer("", 4), False),
    ],
)
def test_answer_is_in_the_passage_at_its_start_alone(answer: Answer, right: bool) -> None:
    assert answer.is_in("The owl sleeps.") == right


@pytest.mark.parametrize(
    ("shape", "complaint"),
    [
        ([], "the file: expected an object with 'data', but got \\[\\]"),
        ({"articles": []}, "the file: expected an object with 'data', .* with 'articles'"),
        ({"data": {}}, "data: expected a list, but got an object with nothing"),
        ({"data": ["x"]}, r"data\[0\]: expected an object with 'paragraphs', but got 'x'"),
        (content(context=5, qas=[question()]), r"data\[0\].paragraphs\[0\].context: expected a st"),
        (content("x"), r"paragraphs\[0\].qas\[0\]: expected an object with 'id', but got 'x'"),
        (content({**question(), "id": 5}), r"qas\[0\].id: expected a string, but got 5"),
        (content(question(answers=None)), r"qas\[0\].answers: expected a list, but got None"),
        (
            content(question(answers=[{"text": "owl"}])),
            r"qas\[0\].answers\[0\]: expected an object with 'answer_start', .* with 'text'",
        ),
        (
            content(question(answers=[{"text": "owl", "answer_start": "4"}])),
            r"answers\[0\].answer_start: expected a whole number, but got '4'",
        ),
        (
            content(question(answers=[{"text": "owl", "answer_start": True}])),
            r"answer_start: expected a whole number, but got True",
        ),
        (content(question(is_impossible=0)), "is_impossible: expected true or false, but got 0"),
        (content(question(question=" \n")), r"qas\[0\].question: there is no word in ' \\n'"),
        (content(question(), context=""), r"paragraphs\[0\].context: there is no word in ''"),
        (
            content(question("7"), question("8"), question("7")),
            r"qas\[2\].id: '7' is also the id of data\[0\].paragraphs\[0\].qas\[0\]",
        ),
    ],
)
def test_other_shape_is_refused_with_its_place(shape: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_squad(shape)


def test_long_value_is_shown_in_part() -> None:
    with pytest.raises(ValueError) as error:
        parse_squad({"data": "x" * 1000})

    assert len(str(error.value)) < 150

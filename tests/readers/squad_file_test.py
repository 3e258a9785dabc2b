from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.squad_file import GoldAnswer, Passage, parse_squad, read_squad
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

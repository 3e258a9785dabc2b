import json
import random
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance, Vocabulary
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.other_paragraphs import OtherParagraphs
from elmo_tasks.readers.passage import GoldAnswer, Question
from elmo_tasks.readers.squad import SquadReader
from elmo_tasks.readers.squad_file import read_squad

# Four paragraphs are more like the question than the last three are.
ASKED = "Which owl built the old mill?"
LIKE = [f"The owl of {place} built the old mill." for place in ("Aas", "Berg", "Col", "Dal")]
UNLIKE = ["Ducks swim.", "Snow fell in May.", "Cheese is sold here."]
RIGHT = "It was Ida who built the mill."


def question(
    passage: str, article: str = "Mills", answer: str = "Ida", asked: str = ASKED
) -> Question:
    return Question("", asked, passage, [GoldAnswer(answer, 0)], False, "", article)


def article(name: str = "Mills") -> list[Question]:
    return [question(passage, name) for passage in (*UNLIKE, RIGHT, *LIKE)]


def test_others_are_of_the_four_of_the_article_that_are_most_like_the_question() -> None:
    elsewhere = [question(f"Which owl built mill {number}?", "Owls") for number in range(9)]
    others = OtherParagraphs([*elsewhere, *article()], 2)

    drawn = [others.draw(question(RIGHT)) for _ in range(200)]

    assert all(len(set(each)) == 2 for each in drawn)
    assert {text for each in drawn for text in each} == set(LIKE)
    assert sorted(OtherParagraphs(article(), 9).draw(question(RIGHT))) == sorted(LIKE + UNLIKE)


def test_no_other_paragraph_has_the_text_of_an_answer() -> None:
    others = OtherParagraphs(article(), 9)

    assert RIGHT not in others.draw(question("Ida sleeps."))
    assert others.draw(question(RIGHT, answer=".")) == []
    # An empty answer is in every text.
    assert len(others.draw(question(RIGHT, answer=""))) == 7


@given(st.lists(st.sampled_from([*LIKE, *UNLIKE, RIGHT, " ", "."]), max_size=9), st.integers(1, 4))
def test_a_draw_is_of_other_paragraphs_each_once_and_as_many_as_there_are(
    passages: list[str], number: int
) -> None:
    questions = [question(passage) for passage in passages]

    drawn = OtherParagraphs(questions, number).draw(question(RIGHT))

    free = {text for text in passages if text.strip() and "Ida" not in text}
    assert len(drawn) == len(set(drawn)) == min(number, len(free)) and set(drawn) <= free


def test_a_question_whose_article_is_not_known_has_no_other_paragraph() -> None:
    questions = [question(passage, "") for passage in LIKE]

    assert OtherParagraphs(questions, 2).draw(questions[0]) == []


def in_squad(*articles: dict[str, Any]) -> dict[str, Any]:
    return {"data": list(articles)}


def paragraph(context: str) -> dict[str, Any]:
    answer = {"text": context.split()[0], "answer_start": 0}
    return {"context": context, "qas": [{"question": ASKED, "answers": [answer]}]}


@pytest.mark.parametrize(
    ("content", "articles"),
    [
        (in_squad({"title": "A", "paragraphs": [paragraph("x"), paragraph("y")]}), ["A", "A"]),
        (
            in_squad({"paragraphs": [paragraph("x")]}, {"paragraphs": [paragraph("y")]}),
            ["data[0]", "data[1]"],
        ),
        ({"paragraphs": [paragraph("x"), paragraph("y")]}, ["the file", "the file"]),
        ([{"title": "A", "context": "x", "question": ASKED}, paragraph("y")], ["A", ""]),
        ([{"title": 3, "context": "x", "question": ASKED}], [""]),
    ],
)
def test_the_article_of_a_question_is_its_title_or_its_place(
    tmp_path: Path, content: Any, articles: list[str]
) -> None:
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(content))

    assert [each.article for each in read_squad(path)] == articles


def test_articles_of_json_lines_are_apart_and_rows_with_a_title_are_together(
    tmp_path: Path,
) -> None:
    rows = [{"title": "A", "context": text, "question": ASKED} for text in "xy"]
    lines = [{"paragraphs": [paragraph("x")]}, {"paragraphs": [paragraph("y")]}, *rows]
    path = tmp_path / "squad.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))

    assert [each.article for each in read_squad(path)] == ["line 1", "line 2", "A", "A"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "squad.json"
    texts = (*UNLIKE, RIGHT, *LIKE)
    alone = {"title": "Alone", "paragraphs": [paragraph("Anna sleeps.")]}
    mills = {"title": "Mills", "paragraphs": [paragraph(text) for text in texts]}
    path.write_text(json.dumps(in_squad(alone, mills)))
    return path


def texts_of(instance: Instance) -> list[str]:
    """Returns the texts of the windows of an instance."""
    about = instance["metadata"]
    return [about["passage"].text_of(start, stop - 1) for start, stop, _ in about["sampled"]]


def test_a_reader_of_several_paragraphs_joins_others_behind_the_right_one(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    whole = list(SquadReader().read(path))

    instances = list(SquadReader(paragraphs=3).read(path))

    assert len(instances) == len(whole) == 9
    for instance, other in zip(instances, whole):
        right, *others = texts_of(instance)
        assert right == other["metadata"]["passage"].text
        tokens = [token.text for token in instance["passage"]]
        assert tokens[: len(other["passage"])] == [token.text for token in other["passage"]]
        for name in ("span_start", "span_end"):
            assert instance[name].sequence_index == other[name].sequence_index
        assert len(others) == (0 if right == "Anna sleeps." else 2)
        assert right not in others and "sampled" not in other["metadata"].metadata
        # Windows follow one another, and have what they have as passages of their own.
        ranges = [each[:2] for each in instance["metadata"]["read"]]
        assert [start for start, _ in ranges[1:]] == [stop for _, stop in ranges[:-1]]
        for text, (start, stop) in zip([right, *others], ranges, strict=True):
            alone = SquadReader().text_to_instance(ASKED, text)["passage"]
            assert [token.text for token in alone] == tokens[start:stop]
    assert "1 questions without another paragraph" in caplog.text


def test_each_reading_draws_anew_and_a_seed_repeats_it(path: Path) -> None:
    def draws(seed: int) -> list[list[list[str]]]:
        random.seed(seed)
        reader = SquadReader(paragraphs=2)
        return [[texts_of(each) for each in reader.read(path)] for _ in range(3)]

    first, again = draws(1), draws(1)

    assert first == again
    assert first[0] != first[1] or first[1] != first[2]


def test_a_reader_of_one_paragraph_draws_nothing(path: Path) -> None:
    random.seed(3)
    state = random.getstate()

    list(SquadReader().read(path))

    assert random.getstate() == state


def test_others_are_cut_as_the_passage_is(path: Path) -> None:
    for instance in SquadReader(paragraphs=3, max_passage_tokens=4).read(path):
        assert all(stop - start <= 4 for start, stop, _ in instance["metadata"]["sampled"])
        assert len(instance["passage"]) == instance["metadata"]["sampled"][-1].stop


def test_cut_and_whole_passages_are_in_one_batch(path: Path) -> None:
    instances = list(SquadReader(max_passage_tokens=4).read(path))

    assert len({len(each["passage"]) for each in instances}) > 1
    assert len({type(each["passage"]) for each in instances}) == 1


def test_a_joined_passage_has_the_ids_of_its_paragraphs(path: Path) -> None:
    reader = SquadReader(paragraphs=3)
    instances = list(reader.read(path))
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances(instances)

    for instance in instances:
        instance.index_fields(vocab)
        field = instance["passage"]
        (ids,) = field.as_tensor(field.get_padding_lengths())["tokens"].values()
        assert [vocab.get_token_from_index(each) for each in ids.tolist()] == [
            token.text for token in field
        ]

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer

from elmo_tasks.readers.squad import SquadReader

FIXTURE = Path(__file__).parents[2] / "fixtures" / "squad.json"
PASSAGE = "The owl that sleeps in Barn-2 hears well."


def read(reader: SquadReader, path: Path = FIXTURE) -> dict[str, Instance]:
    return {instance["metadata"]["id"]: instance for instance in reader.read(path)}


def label(instance: Instance) -> tuple[int, int]:
    return instance["span_start"].sequence_index, instance["span_end"].sequence_index


def answer(instance: Instance) -> str:
    return instance["metadata"]["passage"].text_of(*label(instance))


def question(id: str = "1", answers: list[tuple[str, int]] = None, **others: Any) -> dict[str, Any]:
    answers = [("owl", 4)] if answers is None else answers
    listed = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": id, "question": "Who hears well?", "answers": listed, **others}


def written(folder: Path, *qas: dict[str, Any], context: str = PASSAGE) -> Path:
    path = folder / "squad.json"
    paragraphs = [{"context": context, "qas": qas}]
    path.write_text(json.dumps({"data": [{"title": "Owls", "paragraphs": paragraphs}]}))
    return path


def test_questions_are_read_with_the_tokens_of_their_answers() -> None:
    instances = read(SquadReader())

    assert len(instances) == 13

    first = instances["harbour-1"]

    assert [token.text for token in first["question"]][:3] == ["Who", "was", "the"]
    assert first["metadata"]["answers"] == ["Ida Holm-Berg", "Ida Holm-Berg", "Holm-Berg"]

    # The answer that is given most often, as the raw text has it. Of equally frequent ones the
    # first counts. Another answer than the token "1920s" is a part of it.
    expected = {
        "harbour-1": "Ida Holm-Berg",
        "harbour-3": "the old brass bell",
        "mill-1": "1920s",
        "cafe-1": "soup, bread\u202fand coffee",
        "cafe-3": "4\u00a0€",
    }
    assert {name: answer(instances[name]) for name in expected} == expected
    start, end = label(first)
    words = [token.text for token in first["passage"][start : end + 1]]
    assert words == ["Ida", "Holm", "-", "Berg"]


def test_what_is_left_out_is_counted_and_the_label_is_the_most_frequent_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    answers = [("The owl", 0), ("owl that sleeps", 4), ("arn", 24), ("owl that sleeps", 4)]
    impossible = question("2", [], is_impossible=True, plausible_answers=[])
    path = written(tmp_path, question("1", answers, is_impossible=False), impossible)

    instances = read(SquadReader(), path)

    assert list(instances) == ["1"] and answer(instances["1"]) == "owl that sleeps"
    assert "1 answers are not whole tokens" in caplog.text


def test_questions_about_a_passage_share_its_tokens() -> None:
    instances = read(SquadReader(token_indexers={"elmo": ELMoTokenCharactersIndexer()}))

    assert instances["mill-1"]["passage"] is instances["mill-4"]["passage"]
    assert instances["mill-1"]["passage"] is not instances["harbour-1"]["passage"]

    for instance in instances.values():
        instance.index_fields(Vocabulary())
    tensors = instances["mill-4"].as_tensor_dict()

    assert tensors["passage"]["elmo"]["elmo_tokens"].size(0) == len(instances["mill-1"]["passage"])


def test_passage_is_cut_at_the_limit_and_no_answer_with_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    # The tokens are: The owl that sleeps in Barn - 2 hears well .
    path = written(
        tmp_path,
        question("inside", [("Barn", 23)]),
        question("across", [("Barn-2", 23)]),
        question("either", [("hears well", 30), ("sleeps", 13)]),
    )

    instances = read(SquadReader(max_passage_tokens=6), path)

    assert list(instances) == ["inside", "either"]
    assert [len(each["passage"]) for each in instances.values()] == [6, 6]
    assert [label(each) for each in instances.values()] == [(5, 5), (3, 3)]
    assert "1 questions answered beyond max_passage_tokens" in caplog.text
    assert instances["either"]["metadata"]["answers"] == ["hears well", "sleeps"]


WRONG = [("owl", -5), ("owl", 500), ("", 4), (" ", 3), ("Owl", 4), ("e", 30)]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("limit", [None, 100])
def test_wrong_answer_is_named_and_counted_and_its_question_is_scored_or_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, wrong: tuple[str, int], limit: int | None
) -> None:
    caplog.set_level(logging.INFO)
    path = written(tmp_path, question("bad", [wrong]), question("good", [wrong, ("owl", 4)]))

    instances = read(SquadReader(max_passage_tokens=limit), path)

    # A reader with a limit reads training data.
    assert list(instances) == (["bad", "good"] if limit is None else ["good"])
    assert answer(instances["good"]) == "owl"
    place = wrong[1] + (wrong[0] == " ")
    assert (
        f"data[0].paragraphs[0].qas[0]: the answer {wrong[0].strip()!r} is not at its answer_start "
        f"{place}; "
    ) in caplog.text
    assert "2 wrong answers left out" in caplog.text
    # The metric gets all answers, as the official script does.
    assert instances["good"]["metadata"]["answers"] == [wrong[0].strip(), "owl"]
    if limit is None:
        assert label(instances["bad"]) == (-1, -1)
        assert "1 questions scored, but not learnt" in caplog.text
    else:
        assert "1 questions without a right answer left out" in caplog.text


def test_an_answer_near_its_start_is_taken_from_its_place_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [question(str(start), [("sleeps", start)]) for start in (0, 12, 14, 45)]
    path = written(tmp_path, *asked, question("6", [("hears", 1)]))

    instances = read(SquadReader(), path)

    assert [label(each) for each in instances.values()] == [(3, 3)] * 4 + [(8, 8)]
    assert "answer_start 14; it is taken from 13" in caplog.text


def test_what_can_be_neither_learnt_nor_scored_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    odd = [question("2", []), question("3") | {"question": " \n"}, question("4", None)]
    path = written(tmp_path, *odd, {"id": "5", "question": "Who?", "is_impossible": "true"})

    assert list(read(SquadReader(), path)) == ["4"]
    assert "1 questions without an answer left out" in caplog.text
    assert "1 questions without a word in the question or the passage left out" in caplog.text
    assert "1 impossible questions left out" in caplog.text

    with pytest.raises(ValueError, match="1 questions without an answer"):
        read(SquadReader(), written(tmp_path, question("1", [])))

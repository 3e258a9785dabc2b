import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.modules import self_attention
from elmo_tasks.predictors.squad import SquadPredictor
from tests.helpers.command_line import our_command
from tests.helpers.configs import ROOT
from tests.helpers.largest_tensor import LargestTensor
from tests.helpers.training import trained_archive

FILE = json.loads((ROOT / "fixtures" / "squad.json").read_text(encoding="utf-8"))
PASSAGE = "The  café-bar\u00a0opened in 1998 🍲 on Mill Street."
QUESTION = {"passage": PASSAGE, "question": "When did it open?"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("squad")
    return trained_archive(folder, "squad", "both", "{ trainer+: { num_epochs: 1 } }")


@pytest.fixture(scope="module")
def predictor(archive: Path) -> Iterator[SquadPredictor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(archive.parent)
        loaded = Predictor.from_archive(load_archive(archive))
        assert isinstance(loaded, SquadPredictor)
        yield loaded


def with_settings(predictor: SquadPredictor, **settings: Any) -> SquadPredictor:
    return SquadPredictor(predictor._model, predictor._dataset_reader, **settings)


def questions() -> list[tuple[str, str, str]]:
    """Returns id, question and passage of each question of the fixture."""
    return [
        (qa["id"], qa["question"], paragraph["context"])
        for article in FILE["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]


def test_answer_is_a_slice_of_the_raw_passage_with_its_characters(
    predictor: SquadPredictor,
) -> None:
    answer = predictor.predict_json(QUESTION)

    assert answer.keys() == {"answer", "start", "end", "probability", "best"}
    assert len(answer["best"]) == 5
    assert answer["best"][0] == {name: answer[name] for name in answer if name != "best"}
    for span in answer["best"]:
        assert PASSAGE[span["start"] : span["end"]] == span["answer"] != ""

    probabilities = [span["probability"] for span in answer["best"]]

    assert probabilities == sorted(probabilities, reverse=True)
    assert len({(span["start"], span["end"]) for span in answer["best"]}) == 5


def test_probabilities_of_all_spans_are_those_of_start_times_end(
    predictor: SquadPredictor,
) -> None:
    every = with_settings(predictor, num_best=1000).predict_json(QUESTION)["best"]
    instance = predictor._json_to_instance(QUESTION)
    predictor._dataset_reader.apply_token_indexers(instance)
    length = len(instance["passage"])

    assert len(every) == length * (length + 1) // 2 < 1000

    output = predictor._model.forward_on_instance(instance)
    first = output["best_span"].tolist()

    assert every[0]["answer"] == instance["metadata"]["passage"].text_of(*first)
    assert sum(span["probability"] for span in every) <= 1 + 1e-5


def test_attention_is_given_where_it_is_asked_for(predictor: SquadPredictor) -> None:
    asked = with_settings(predictor, attention=True)
    other = {"passage": PASSAGE + " Nobody knows.", "question": "Who knows what?"}

    for answer in asked.predict_batch_json([QUESTION, other]):
        assert answer["question_tokens"][0] in ("When", "Who")
        assert answer["passage_tokens"][:4] == ["The", "café", "-", "bar"]
        assert len(answer["attention"]) == len(answer["passage_tokens"])
        for weights in answer["attention"]:
            assert len(weights) == len(answer["question_tokens"])
            assert sum(weights) == pytest.approx(1, abs=1e-5)


def test_answers_of_a_file_are_those_of_single_questions(predictor: SquadPredictor) -> None:
    answers = predictor.predict_json(FILE)

    assert list(answers) == [id for id, _, _ in questions()]
    for id, question, passage in questions()[::4]:
        alone = predictor.predict_json({"passage": passage, "question": question})
        assert answers[id]["answer"] == alone["answer"]
        assert answers[id]["probability"] == pytest.approx(alone["probability"], rel=1e-4)


@pytest.mark.parametrize("official", [False, True])
def test_an_id_may_be_the_name_of_a_field(predictor: SquadPredictor, official: bool) -> None:
    questions = [{"id": id, "question": QUESTION["question"]} for id in ("best", "answer")]
    file = {"data": [{"paragraphs": [{"context": PASSAGE, "qas": questions}]}]}

    lines = predictor.readable(with_settings(predictor, official=official).predict_json(file))

    line, again = predictor.readable(predictor.predict_json(QUESTION)) * 2
    assert lines == ([line.split("\t")[0]] * 2 if official else [line, again])


def test_files_and_questions_may_stand_beside_each_other(predictor: SquadPredictor) -> None:
    single, file, again = predictor.predict_batch_json([QUESTION, FILE, QUESTION])

    assert single["answer"] == again["answer"]
    assert len(file) == 13


def test_official_file_on_one_line_becomes_the_official_answers(
    archive: Path, tmp_path: Path
) -> None:
    asked, output = tmp_path / "dev.json", tmp_path / "out.json"
    asked.write_text(json.dumps(FILE), encoding="utf-8")
    arguments = ["--predictor-args", '{"official": true}', "--include-package", "elmo_tasks"]

    our_command("predict", archive, asked, "--output-file", output, "--silent", *arguments)

    answers = json.loads(output.read_text())
    assert list(answers) == [id for id, _, _ in questions()]
    for id, _, passage in questions():
        assert answers[id] in passage and answers[id]


def test_indented_file_is_refused_with_what_to_do(predictor: SquadPredictor) -> None:
    first, second = json.dumps(FILE, indent=1).splitlines()[:2]

    for line in (first, second):
        with pytest.raises(ValueError, match="as JSON on one line.* run `python -m json.tool"):
            predictor.load_line(f"{line}\n")
    assert predictor.load_line(json.dumps(FILE)) == FILE


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("When?", "expected a question or a whole file .* as JSON on one line"),
        ('{"passage": "An owl."}', "expected .*passage.*, but got {'passage': 'An owl.'}"),
        ('{"passage": "An owl.", "question": " "}', "there is no word in the question"),
        ('{"data": [{"paragraphs": 3}]}', r"data\[0\].paragraphs: expected a list"),
    ],
)
def test_a_bad_line_is_refused(predictor: SquadPredictor, line: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        predictor.load_line(line)


def test_instances_of_a_file_are_answered_with_their_ids(
    predictor: SquadPredictor, tmp_path: Path
) -> None:
    (tmp_path / "dev.json").write_text(json.dumps(FILE), encoding="utf-8")
    instances = list(predictor._dataset_reader.read(tmp_path / "dev.json"))[:3]

    answers = predictor.predict_batch_instance(instances)

    assert [answer["id"] for answer in answers] == [id for id, _, _ in questions()][:3]


def test_a_long_passage_is_read_without_the_scores_of_all_pairs_at_once(
    predictor: SquadPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_attention, "_MAX_SCORES", 2**20)
    passage = "The owl sleeps . " * 1000

    with LargestTensor() as largest:
        answer = predictor.predict_json({"passage": passage, "question": "Who sleeps?"})

    assert passage[answer["start"] : answer["end"]] == answer["answer"] != ""
    assert largest.size < 4000 * 4000 / 4


def test_error_in_a_file_says_where(predictor: SquadPredictor) -> None:
    broken = json.loads(json.dumps(FILE))
    broken["data"][0]["paragraphs"][1]["qas"][2]["question"] = ""
    complaint = r"data\[0\].paragraphs\[1\].qas\[2\].question: there is no word"

    with pytest.raises(ValueError, match=complaint):
        predictor.predict_json(broken)


@pytest.mark.parametrize("num_best", [0, "5", True])
def test_number_of_spans_is_one_or_more(predictor: SquadPredictor, num_best: Any) -> None:
    with pytest.raises(ConfigurationError, match="num_best must be 1 or more, not"):
        with_settings(predictor, num_best=num_best)

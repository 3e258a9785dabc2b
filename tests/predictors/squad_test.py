import json
import random
from typing import Any

import pytest
import torch
from allennlp.data import TextFieldTensors
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.models.bidaf import ReadText
from elmo_tasks.modules import attention
from elmo_tasks.predictors import window_reader
from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.predictors.squad import SquadPredictor
from elmo_tasks.predictors.stream import answers_only
from tests.helpers.archives import task_predictor
from tests.helpers.largest_tensor import LargestTensor

PASSAGE = "The  café-bar\u00a0opened in 1998 🍲 on Mill Street."
QUESTION = {"passage": PASSAGE, "question": "When did it open?"}


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> SquadPredictor:
    return task_predictor(tmp_path_factory.mktemp("squad"), "squad")


def test_answers_are_all_slices_of_the_raw_passage_with_their_characters_the_best_first(
    predictor: SquadPredictor,
) -> None:
    instance = predictor._json_to_instance(QUESTION)
    predictor._dataset_reader.apply_token_indexers(instance)
    first = predictor._model.forward_on_instance(instance)["best_span"].tolist()
    length = len(instance["passage"])

    answer = predictor.predict_json(QUESTION)
    every = predictor.predict_json({**QUESTION, "top_k": 1000})["best"]

    assert answer == {**every[0], "best": every[:5]}
    assert answer["answer"] == instance["metadata"]["passage"].text_of(*first)
    assert len({(span["start"], span["end"]) for span in every}) == len(every)
    assert len(every) == length * (length + 1) // 2 < 1000
    for span in every:
        assert PASSAGE[span["start"] : span["end"]] == span["answer"] != ""
    probabilities = [span["probability"] for span in every]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) <= 1 + 1e-5


NAMES = ("Anna", "the baker", "an owl", "Marta", "the mayor", "a fire", "the ferry", "Tomas")
VERBS = ("built", "saw", "left", "crossed", "opened", "sold", "painted", "feared")
THINGS = ("the library", "an oven", "the lake", "a museum", "two ducks", "the roof", "a bridge")


def long_text(seed: int, num_paragraphs: int) -> str:
    """Returns paragraphs of about 150 tokens each."""
    draw = random.Random(seed)
    return "\n\n".join(
        " ".join(
            f"{draw.choice(NAMES)} {draw.choice(VERBS)} {draw.choice(THINGS)} in {number}."
            for number in draw.sample(range(1100, 1999), 20)
        )
        for _ in range(num_paragraphs)
    )


MANUAL = long_text(1, 10)
ASKED = [f"Who {verb} {thing}?" for verb, thing in zip(VERBS, THINGS)]


def logits_of(predictor: SquadPredictor, passage: str, question: str) -> torch.Tensor:
    """Returns the logits of start and end of a passage that is read as a whole."""
    instance = predictor._dataset_reader.text_to_instance(question, passage)
    predictor._dataset_reader.apply_token_indexers(instance)
    output = predictor._model.forward_on_instance(instance)
    return torch.stack([torch.as_tensor(output[name]) for name in ("start_logits", "end_logits")])


def test_a_window_is_read_as_if_it_were_a_passage_and_the_best_sum_of_logits_is_the_answer(
    predictor: SquadPredictor,
) -> None:
    asked = {"passage": MANUAL, "question": ASKED[0]}
    instance = predictor._json_to_instance(asked)
    passage, read = (instance["metadata"][name] for name in ("passage", "read"))
    assert len(read) == 4 < len(instance["metadata"]["windows"].ranges)

    (output,) = predictor.outputs([instance])
    answer = predictor.predict_json({**asked, "top_k": 1})

    joined = torch.stack([output["start_logits"], output["end_logits"]])
    found = {}
    begin = 0
    for start, stop, prior in read:
        logits = joined[:, begin : begin + stop - start]
        begin += stop - start
        own = logits_of(predictor, passage.text_of(start, stop - 1), ASKED[0])
        own[0] += prior
        torch.testing.assert_close(logits, own, atol=1e-4, rtol=1e-5)
        for first in range(stop - start):
            for last in range(first, min(first + 17, stop - start)):
                found[start + first, start + last] = logits[0, first] + logits[1, last]
    best = max(found, key=lambda span: found[span].item())
    assert (answer["start"], answer["end"]) == passage.characters_of(*best)
    whole = joined.logsumexp(dim=1).sum()
    assert answer["probability"] == pytest.approx((found[best] - whole).exp().item(), rel=1e-4)


def test_answers_of_a_long_passage_do_not_overlap_and_have_their_paragraphs(
    predictor: SquadPredictor,
) -> None:
    answer = predictor.predict_json({"passage": MANUAL, "question": ASKED[1], "top_k": 40})

    best = answer["best"]
    assert len(best) == 40 and {**best[0], "best": best} == answer
    places = sorted((each["start"], each["end"]) for each in best)
    assert all(end <= start for (_, end), (start, _) in zip(places, places[1:]))
    probabilities = [each["probability"] for each in best]
    assert probabilities == sorted(probabilities, reverse=True) and sum(probabilities) < 1
    for each in best:
        start, begin = each["start"], each["paragraph_start"]
        assert MANUAL[start : each["end"]] == each["answer"] != ""
        assert MANUAL.startswith(each["paragraph"], begin) and begin <= start
        paragraphs = MANUAL.split("\n\n")
        # A span may begin in one paragraph and end in the next one.
        assert all(part in paragraphs for part in each["paragraph"].split("\n\n"))
        assert each["end"] <= begin + len(each["paragraph"])


INPUTS = [
    {"passage": passage, "question": question}
    for passage in (MANUAL, long_text(2, 4), PASSAGE, "An owl.")
    for question in ASKED[:2]
]


@pytest.fixture(scope="module")
def alone(predictor: SquadPredictor) -> list[dict[str, Any]]:
    """The answer to each of the inputs by itself."""
    return list(map(predictor.predict_json, INPUTS))


@settings(max_examples=2, deadline=None)
@given(st.permutations(range(8)), st.integers(1, 8))
def test_an_answer_depends_on_no_other_input(
    predictor: SquadPredictor, alone: list[dict[str, Any]], order: list[int], size: int
) -> None:
    answers = list(answers_only(predictor.stream((INPUTS[index] for index in order), size)))

    for index, answer in zip(order, answers, strict=True):
        assert answer["probability"] == pytest.approx(alone[index]["probability"], abs=1e-6)
        for name in ("answer", "start", "end"):
            assert answer[name] == alone[index][name]
        assert ("paragraph" in answer) == (index < 4)


def test_an_evaluation_has_the_answers_of_the_predictor(predictor: SquadPredictor) -> None:
    reader, model = predictor._dataset_reader, predictor._model
    instances = [
        reader.text_to_instance(question, passage, id=question, answers=["owl"], span=(0, 1))
        for passage in (MANUAL, PASSAGE, long_text(3, 6))
        for question in ASKED[:2]
    ]
    for instance in instances:
        reader.apply_token_indexers(instance)

    outputs = model.forward_on_instances(instances)
    answers = predictor.predict_batch_instance(instances)

    for output, answer in zip(outputs, answers, strict=True):
        assert output["answer"] == answer["answer"]
    loss = model.forward_on_instance(instances[4])["loss"]
    assert 0 < loss < 100


def test_a_label_that_is_not_read_has_no_part_in_the_loss(predictor: SquadPredictor) -> None:
    reader = predictor._dataset_reader
    instance = reader.text_to_instance(ASKED[0], MANUAL)
    read = {
        index for each in instance["metadata"]["read"] for index in range(each.start, each.stop)
    }
    unread = min(set(range(len(instance["passage"]))) - read)
    instance = reader.text_to_instance(ASKED[0], MANUAL, span=(unread, unread))
    reader.apply_token_indexers(instance)

    assert predictor._model.forward_on_instance(instance)["loss"] == 0


def test_what_is_read_of_a_passage_by_itself_is_read_once_and_no_more_is_kept_than_allowed(
    predictor: SquadPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = window_reader.WindowReader(predictor._model, predictor._dataset_reader)
    monkeypatch.setattr(predictor, "_windows", reader)
    lengths: list[int] = []
    read = predictor._model.read

    def noted(text: TextFieldTensors) -> list[ReadText]:
        lengths.append(text["tokens"]["tokens"].size(1))
        return read(text)

    monkeypatch.setattr(predictor._model, "read", noted)
    asked = {"passage": long_text(4, 12), "question": ASKED[2]}
    first = predictor.predict_json(asked)
    assert len(lengths) > 1 and max(lengths) <= 400

    lengths.clear()
    assert predictor.predict_json(asked) == first
    assert len(lengths) == 1 and lengths[0] < 20

    monkeypatch.setattr(window_reader, "_MAX_KEPT", 1000)
    assert predictor.predict_json(asked) == first
    assert 0 < sum(len(each.mask) for each in reader._recent_windows.values()) <= 1000


def test_a_long_passage_is_explained_by_the_window_of_the_answer(predictor: SquadPredictor) -> None:
    asked = {"passage": MANUAL, "question": ASKED[0]}
    answer = predictor.predict_json(asked)

    question, passage = saliency(predictor, asked)["texts"]

    assert (question["field"], passage["field"]) == ("question", "passage")
    assert len(passage["tokens"]) <= 400
    assert sum(passage["weights"][0]) == pytest.approx(1, abs=1e-4)
    (labelled,) = predictor.json_to_labeled_instances(asked)
    about = labelled["metadata"].metadata
    first, last = (labelled[name].sequence_index for name in ("span_start", "span_end"))
    assert about["passage"].text_of(first, last) == answer["answer"]


@pytest.mark.parametrize("num_paragraphs", [10, 12])
def test_an_answer_of_a_long_passage_is_lines_of_text_and_a_row(
    predictor: SquadPredictor, num_paragraphs: int
) -> None:
    passage = long_text(1, num_paragraphs)
    answer = predictor.predict_json({"passage": passage, "question": ASKED[0], "top_k": 3})

    lines = predictor.readable(answer)
    cells = predictor.cells(answer)

    start, end = answer["start"], answer["end"]
    # An answer may go on in the next paragraph; in text it is on one line.
    paragraph, *answers = (
        " ".join(text.split())
        for text in (answer["paragraph"], *(span["answer"] for span in answer["best"]))
    )
    assert lines[0] == f"{answers[0]}\t{answer['probability']:.2f}\tcharacters {start} to {end}"
    assert answers[0] in lines[1] and len(lines[1]) < 450
    assert lines[1].strip().removeprefix("... ").removesuffix(" ...") in paragraph
    assert [line.split("\t")[1:3] for line in lines[2:]] == [
        [f"{number}:", text] for number, text in enumerate(answers[1:], start=2)
    ]
    assert list(cells) == ["answer", "probability", "start", "end", "paragraph"]
    assert json.loads(predictor.dump_line(answer)) == answer


@pytest.mark.parametrize("top_k", [0, -1, 1001, True, "3", 2.0, None])
def test_a_number_of_answers_that_is_none_is_refused(
    predictor: SquadPredictor, top_k: object
) -> None:
    with pytest.raises(ValueError, match="top_k must be a whole number from 1 to 1000, not"):
        predictor.predict_json({**QUESTION, "top_k": top_k})


def test_a_long_passage_is_read_without_the_scores_of_all_pairs_at_once(
    predictor: SquadPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "_MAX_SCORES", 2**16)
    passage = "The owl sleeps . " * 250

    with LargestTensor() as largest:
        answer = predictor.predict_json({"passage": passage, "question": "Who sleeps?"})

    assert passage[answer["start"] : answer["end"]] == answer["answer"] != ""
    assert largest.size < 1000 * 1000 / 4

"""The contract of every predictor, from input to answer: batches, fields, texts and refusals."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.predictors.fields import with_fields
from elmo_tasks.predictors.text_predictor import TextPredictor
from tests.helpers.archives import language_model, task_predictor
from tests.helpers.configs import tiny
from tests.helpers.reading import words


class Contract(NamedTuple):
    """
    # Parameters

    inputs: Inputs of different lengths.
    of_text: Returns an input whose text is given.
    fields: The fields of an answer, in their order.
    refused: Inputs, and what the message says of them.
    of_instance: Returns the input that asks about an instance of a file.
    num_lines: The lines of an answer in text.
    """

    inputs: list[JsonDict]
    of_text: Callable[[str], JsonDict]
    fields: list[str]
    refused: list[tuple[Any, str]]
    of_instance: Callable[[Instance], JsonDict] = lambda instance: {"tokens": words(instance)}
    num_lines: Callable[[JsonDict], int] = lambda answer: 1


SENTENCE = r'expected \{"sentence": "raw text"\} or .*, but got'


def all_refused(message: str, *inputs: Any) -> list[tuple[Any, str]]:
    return [(each, message) for each in inputs]


NO_SENTENCE = [
    *all_refused(SENTENCE, {}, "Fine.", 7, {"sentence": ["Fine"]}, {"sentence": None}),
    *all_refused("tokens must be a list of words", {"tokens": "Fine."}, {"tokens": ["a", 1]}),
    ({"sentence": "Fine.", "tokens": ["Fine", ""]}, "tokens must be a list of words"),
    *all_refused("no word in the sentence", {"sentence": " \n"}, {"tokens": []}),
]
SENTENCES: list[JsonDict] = [
    {"sentence": "Rain."},
    {"sentence": "The storm broke two windows in Oslo and frightened the dog."},
    {"tokens": ["Marta", "left", "7\u00a03/4", "."]},
]


def speakers(instance: Instance) -> list[str]:
    """Returns the speaker of each sentence."""
    of_words = iter(instance["metadata"]["speakers"])
    return [[next(of_words) for _ in each][0] for each in instance["metadata"]["sentences"]]


def pairs(first: str, second: str, expected: str) -> list[tuple[Any, str]]:
    """Returns what a predictor of two texts refuses."""
    good = {first: "It opened in 1998.", second: "It opened."}
    return [
        *all_refused(expected, {}, [], "text", {first: "a"}, {**good, second: 1}),
        *(
            ({**good, name: text}, f"no word in the {name}")
            for name in good
            for text in ("", " \n")
        ),
    ]


CONTRACTS = {
    "classify": Contract(
        inputs=[
            {"text": "She sang."},
            {"text": "The soup came cold. Twice! We left."},
            {"tokens": ["A", "long", "walk"]},
        ],
        of_text=lambda text: {"text": text},
        fields=["label", "probabilities", "tokens"],
        refused=[
            *all_refused(
                r'expected \{"text": "raw text"\}, but got',
                *({"txt": "Soup"}, {"text": 1}, ["Soup"]),
            ),
            ({"text": "Soup", "tokens": [1]}, "tokens must be a list of words"),
            ({"tokens": []}, "a text must have at least one word"),
            ({"text": " "}, "there is no word in the text"),
        ],
    ),
    "sst": Contract(
        inputs=SENTENCES,
        of_text=lambda text: {"sentence": text},
        fields=["label", "probabilities", "tokens"],
        refused=NO_SENTENCE,
    ),
    "snli": Contract(
        inputs=[
            {"premise": "Rain.", "hypothesis": "It rains on all of the old town since noon."},
            {"premise": "A girl feeds two ducks.", "hypothesis": "She isn't asleep."},
        ],
        of_text=lambda text: {"premise": text, "hypothesis": text},
        fields=["label", "probabilities", "premise_tokens", "hypothesis_tokens"],
        refused=pairs("premise", "hypothesis", "expected .*premise.*hypothesis.*, but got"),
        of_instance=lambda instance: {
            name: " ".join(words(instance, name)) for name in ("premise", "hypothesis")
        },
    ),
    "squad": Contract(
        inputs=[
            {"passage": "An owl sleeps by day.", "question": "When does it sleep?"},
            {"passage": "Rain fell in Oslo all day, and in Bergen as well.", "question": "Where?"},
        ],
        of_text=lambda text: {"passage": text, "question": text},
        fields=["answer", "start", "end", "probability", "best"],
        refused=pairs("passage", "question", "expected .*passage.*question.*, but got"),
        of_instance=lambda instance: {
            "passage": instance["metadata"]["passage"].text,
            "question": " ".join(words(instance, "question")),
        },
    ),
    "ner": Contract(
        inputs=SENTENCES,
        of_text=lambda text: {"sentence": text},
        fields=["sentence", "tokens", "tags", "entities"],
        refused=NO_SENTENCE,
    ),
    "tag": Contract(
        inputs=[*SENTENCES, {"text": "Rain fell."}, {"tokens": ["Rain"], "text": "x"}],
        of_text=lambda text: {"sentence": text},
        fields=["tokens", "tags", "probabilities"],
        refused=[*NO_SENTENCE, ({"text": " \n"}, "there is no word in the text")],
    ),
    "srl": Contract(
        inputs=[*SENTENCES, {"tokens": ["Marta", "left"], "predicates": [1, 0]}],
        of_text=lambda text: {"tokens": text.split(), "predicates": [0]},
        fields=["sentence", "tokens", "predicates"],
        refused=[
            *NO_SENTENCE,
            ({"tokens": ["a", "b"], "predicates": [2]}, r"from 0 to 1, but is \[2\]"),
            ({"tokens": ["a", "b"], "predicates": [-1]}, "from 0 to 1"),
            ({"tokens": ["a", "b"], "predicates": [True]}, "from 0 to 1"),
            ({"tokens": ["a", "b"], "predicates": ["b"]}, "must be a list of indices of tokens"),
            ({"tokens": ["a", "b"], "predicates": 1}, "must be a list of indices of tokens"),
        ],
        of_instance=lambda instance: {
            "tokens": words(instance),
            "predicates": [instance["predicate"].sequence_index],
        },
        num_lines=lambda answer: 1 + len(answer["predicates"]),
    ),
    "coref": Contract(
        inputs=[
            {"document": "The baker opened her shop in Lisbon.\n\n She sold bread there."},
            {"document": "Yes."},
            {"sentences": [["I", "left"], ["You", "?"]], "speakers": ["Ana", "Ben"], "genre": "bc"},
        ],
        of_text=lambda text: {"document": text},
        fields=["document", "sentences", "clusters"],
        refused=[
            *all_refused(
                r'"document": "raw text".*"sentences".*but got',
                *({}, "Yes.", {"sentence": "Yes."}, {"document": ["Yes."]}),
            ),
            *all_refused(
                "sentences must be lists of words, but are",
                *({"sentences": "Yes."}, {"sentences": ["Yes."]}),
                *({"sentences": [["Yes"], []]}, {"sentences": [["Yes", 1]]}),
            ),
            *all_refused("no word in the document", {"document": " "}, {"sentences": []}),
            ({"document": "Yes.", "genre": 1}, "genre must be text, but is 1"),
            *(
                ({"sentences": [["Yes"]], "speakers": each}, "speakers must be 1 names")
                for each in ("Ana", [["A", "B"]], ["A", "B"])
            ),
        ],
        of_instance=lambda instance: {
            "sentences": instance["metadata"]["sentences"],
            "speakers": speakers(instance),
            "genre": instance["genre"].label,
        },
        num_lines=lambda answer: 1 + len(answer["clusters"]),
    ),
    "language model": Contract(
        inputs=[{"sentence": "the dog"}, {"tokens": ["the", "old", "dog", "saw", "a", "zebra"]}],
        of_text=lambda text: {"sentence": text},
        fields=[
            *("tokens", "unknown", "forward_log_probs", "end_log_prob", "forward_perplexity"),
            *("backward_log_probs", "begin_log_prob", "backward_perplexity"),
        ],
        refused=NO_SENTENCE,
        of_instance=lambda instance: {"tokens": words(instance)[1:-1]},
    ),
}


@pytest.fixture(scope="module", params=CONTRACTS)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def made() -> dict[str, TextPredictor]:
    """Has the predictors that were made, since pytest forgets one at each other parameter."""
    return {}


@pytest.fixture
def predictor(
    task: str, made: dict[str, TextPredictor], tmp_path_factory: pytest.TempPathFactory
) -> TextPredictor:
    if task not in made:
        folder: Path = tmp_path_factory.mktemp("archive")
        if " " in task:
            archive = load_archive(language_model(folder))
            made[task] = Predictor.from_archive(archive)  # type: ignore[assignment]
        else:
            made[task] = task_predictor(folder, task, "both")
    return made[task]


def leaves(value: Any) -> Iterator[Any]:
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, dict | list):
            yield from leaves(child)
        else:
            yield pytest.approx(child, abs=1e-5) if isinstance(child, float) else child


def test_an_input_has_the_same_answer_alone_and_in_a_batch(
    task: str, predictor: TextPredictor
) -> None:
    contract = CONTRACTS[task]

    answers = predictor.predict_batch_json(contract.inputs)

    for answer, asked in zip(answers, contract.inputs, strict=True):
        assert list(answer)[: len(contract.fields)] == contract.fields
        assert list(leaves(answer)) == list(leaves(predictor.predict_json(asked)))


def test_an_instance_of_a_file_has_the_answer_of_its_words(
    task: str, predictor: TextPredictor
) -> None:
    path = "fixtures/corpus/heldout.txt" if " " in task else tiny(task, "both")["train_data_path"]
    instances = list(predictor._dataset_reader.read(path))[:5]

    answers = predictor.predict_batch_instance(instances)

    expected = predictor.predict_batch_json(list(map(CONTRACTS[task].of_instance, instances)))
    ids = [answer.pop("id", None) for answer in answers]
    assert ids == [
        instance["metadata"]["id"] if task == "squad" else None for instance in instances
    ]
    for answer, same in zip(answers, expected, strict=True):
        assert list(answer) == list(same)
        assert list(leaves(answer)) == list(leaves(same))
    assert "loss" not in predictor.predict_instance(instances[0])


def spans(value: Any) -> Iterator[JsonDict]:
    """Yields all spans with their place, at any depth."""
    if isinstance(value, dict) and "characters" in value:
        yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from spans(child)


def test_tokens_are_taken_as_they_are_and_spans_stand_in_the_text(
    task: str, predictor: TextPredictor
) -> None:
    for asked in CONTRACTS[task].inputs:
        answer = predictor.predict_json(asked)
        text = answer.get("sentence", answer.get("document"))
        sentences = answer.get("sentences", [answer.get("tokens", [])])
        tokens = [token for sentence in sentences for token in sentence]

        if "tokens" in asked or "sentences" in asked:
            assert sentences == asked.get("sentences", [asked.get("tokens")])
            assert text in (None, " ".join(tokens))
        elif text is not None:
            assert text == asked.get("sentence", asked.get("document", asked.get("text")))
        found = list(spans(answer))
        assert found or task != "ner"
        for span in found:
            own = tokens[slice(*span["tokens"])]
            assert span["text"] == text[slice(*span["characters"])]
            assert "".join(span["text"].split()) == "".join("".join(own).split())


def test_an_answer_is_a_line_of_json_and_lines_of_text(task: str, predictor: TextPredictor) -> None:
    contract = CONTRACTS[task]

    for answer in predictor.predict_batch_json(contract.inputs):
        assert json.loads(predictor.dump_line(answer)) == answer
        lines = predictor.readable(answer)
        assert len(lines) == contract.num_lines(answer)
        assert not any("\n" in line for line in lines)


def test_further_fields_are_before_all_but_the_label_of_an_answer(
    task: str, predictor: TextPredictor
) -> None:
    asked = CONTRACTS[task].inputs[0]
    before = json.dumps(asked)

    answer, plain = predictor.predict_batch_json([{**asked, "id": 1, "from": ["a", None]}, asked])

    first = [name for name in plain if name == "label"]
    assert list(answer) == [*first, "id", "from", *(name for name in plain if name not in first)]
    assert (answer["id"], answer["from"]) == (1, ["a", None])
    assert json.dumps(asked) == before


def test_a_control_word_in_a_text_has_a_finite_answer(task: str, predictor: TextPredictor) -> None:
    for text in ("@@PADDING@@", "@@UNKNOWN@@", "An @@PADDING@@ @@PADDING@@ @@UNKNOWN@@"):
        answer = predictor.predict_json(CONTRACTS[task].of_text(text))

        numbers = [each.expected for each in leaves(answer) if hasattr(each, "expected")]
        assert numbers or task in ("coref", "ner")
        assert all(map(math.isfinite, numbers))


@pytest.mark.parametrize(
    ("task", "asked", "message"),
    [(name, *each) for name, contract in CONTRACTS.items() for each in contract.refused],
    indirect=["task"],
)
def test_what_is_no_input_is_refused(
    task: str, predictor: TextPredictor, asked: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        predictor.predict_batch_json([CONTRACTS[task].inputs[0], asked])

    assert len(str(error.value)) < 600


def test_the_examples_of_a_task_are_inputs(task: str, predictor: TextPredictor) -> None:
    if predictor.task is not None:
        assert predictor.task.name == task
        for example in predictor.task.examples:
            assert tuple(example) == predictor.input_names


def test_a_field_that_the_answer_has_too_is_renamed() -> None:
    answer = with_fields({"label": "c"}, {"label": "a", "id": 1, "input_label": "b"})

    # An answer may be an input again, and no field of it is lost.
    expected = {"label": "c", "input_label": "a", "id": 1, "input_input_label": "b"}
    assert answer == expected and list(answer) == list(expected)

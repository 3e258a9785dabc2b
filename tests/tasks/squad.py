"""Answers of questions: BiDAF on SQuAD."""

import json
from typing import Any

from allennlp.common.util import JsonDict

from tests.helpers.promises import (
    TEXT_TO_ENCODER,
    ModelPromise,
    PredictorPromise,
    Refused,
    RefusedSetting,
    WithoutWords,
    no_pair,
    wrong,
)
from tests.helpers.reading import words

MODEL = ModelPromise(
    num_texts=2,
    lengths=[{"question": 30, "passage": 120}],
    outputs=["start_logits", "end_logits"],
    metrics={"em", "f1"},
    refused=[
        TEXT_TO_ENCODER,
        wrong("start_encoder", "input of residual_encoder"),
        wrong("end_encoder", "residual_encoder with output of start_encoder"),
        ("{ max_answer_tokens: 0 }", "max_answer_tokens must be 1 or more, not 0"),
    ],
)

PREDICTOR = PredictorPromise(
    inputs=[
        {"passage": "An owl sleeps by day.", "question": "When does it sleep?"},
        {"passage": "Rain fell in Oslo all day, and in Bergen as well.", "question": "Where?"},
    ],
    of_text=lambda text: {"passage": text, "question": text},
    fields=["answer", "start", "end", "probability", "best"],
    refused=no_pair("passage", "question", "expected .*passage.*question.*, but got"),
    of_instance=lambda instance: {
        "passage": instance["metadata"]["passage"].text,
        "question": " ".join(words(instance, "question")),
    },
    explained={"passage": "An owl sleeps by day in Oslo.", "question": "When does it sleep?"},
    attacked=("question", "grad_input_2"),
)


def squad(*questions: object, context: object = "The owl sleeps.") -> str:
    return json.dumps({"data": [{"paragraphs": [{"context": context, "qas": questions}]}]})


QUESTION = {"id": "1", "question": "Who?", "answers": [{"text": "owl", "answer_start": 4}]}

REFUSED: list[Refused] = [
    ("elmo_squad", "", ":1: not JSON"),
    ("elmo_squad", '{\n"data": [\n}', ":3: not JSON"),
    ("elmo_squad", b'{"data": "\xff"}', ":1: not UTF-8"),
    ("elmo_squad", '{"data": []}', ": the file: there is no question"),
    ("elmo_squad", "\n[7]", r": \[0\]: expected an object with 'data'"),
    (
        "elmo_squad",
        '[{"text": "a"}]',
        r": \[0\]: expected an object with 'data', 'paragraphs', 'qas'",
    ),
    ("elmo_squad", '{"data": [{}, {"paragraphs": [7]}]}', r": data\[1\].paragraphs\[0\]: expected"),
    (
        "elmo_squad",
        {"data": [{"title": "Owls", "questions": ["Who?"]}, *json.loads(squad(QUESTION))["data"]]},
        r": data\[0\]: expected an object with",
    ),
    ("elmo_squad", '{"articles": []}', ": the file: expected an object with 'data', .*'articles'"),
    ("elmo_squad", {"data": "x" * 1000}, ": data: expected a list, but got .{80}$"),
    ("elmo_squad", squad({}), r": data\[0\].paragraphs\[0\].qas\[0\]: expected an object"),
    ("elmo_squad", squad("x"), r": .*qas\[0\]: expected an object with 'question', but got 'x'"),
    ("elmo_squad", squad(QUESTION, context=5), r": .*paragraphs\[0\].context: expected a string"),
    ("elmo_squad", squad(QUESTION, context=""), ": there is no question .*: 1 questions without a"),
    ("elmo_squad", squad({**QUESTION, "id": [5]}), r": .*qas\[0\].id: expected a string, but got"),
    ("elmo_squad", squad({**QUESTION, "answers": 7}), r": .*answers: expected an answer with 'te"),
    ("elmo_squad", squad({**QUESTION, "is_impossible": 0}), ": .*: expected true or false, but go"),
    *[
        ("elmo_squad", squad({**QUESTION, "answers": [answer]}), message)
        for answer, message in (
            ({"answer_start": 4}, r": .*answers\[0\].text: expected a string, but got None"),
            (
                {"text": "owl", "answer_start": "x"},
                ": .*start: expected a whole number, but got 'x",
            ),
            (
                {"text": "owl", "answer_start": 4.5},
                ": .*start: expected a whole number, but got 4.5",
            ),
            ({"text": "owl", "answer_start": True}, ": .*: expected a whole number, but got True"),
            (
                {"text": ["owl"], "answer_start": [1, 2]},
                r": .*: expected a list of 1, as many as te",
            ),
        )
    ],
    (
        "elmo_squad",
        squad({**QUESTION, "answers": []}),
        ": there is no question .*: 1 questions without an",
    ),
]

REFUSED_SETTINGS: list[RefusedSetting] = [
    ({"type": "elmo_squad", "max_passage_tokens": 0}, "max_passage_tokens must be 1 or more"),
    ({"type": "elmo_squad", "paragraphs": 0}, "paragraphs must be 1 or more"),
]

WITHOUT_WORDS: list[WithoutWords] = [
    ("elmo_squad", ("", "Owl."), "there is no word in the question"),
    ("elmo_squad", ("Who?", " \n\u00a0"), "there is no word in the passage"),
]


def sentence_file(sentence: str) -> str:
    answer = {"text": sentence.split()[0], "answer_start": 0}
    question = {"id": "1", "question": ".", "answers": [answer]}
    paragraph = {"context": sentence, "qas": [question]}
    return json.dumps({"version": "1.1", "data": [{"title": "", "paragraphs": [paragraph]}]})


def golden_inputs(texts: dict[str, Any]) -> list[JsonDict]:
    return [{"passage": one, "question": each} for one, of in texts["passages"] for each in of]

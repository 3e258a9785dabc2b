"""Classes of texts: a classifier for somebody's own labels, and for IMDB."""

import json

from tests.helpers.promises import (
    TEXT_TO_ENCODER,
    ModelPromise,
    PredictorPromise,
    Refused,
    RefusedSetting,
    WithoutWords,
    all_refused,
    wrong,
)

MODEL = ModelPromise(
    choices=["{ separator: ';' }", "{ texts: ['text', 'id'] }", "{ max_tokens: 5 }"],
    lengths=[{"tokens": 60}],
    outputs=["logits"],
    metrics={"accuracy"},
    refused=[TEXT_TO_ENCODER, wrong("feedforward", r"3 \* output of encoder", "input_dim")],
)

PREDICTOR = PredictorPromise(
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
    explained={"text": "Cold soup. Twice!"},
)

REFUSED: list[Refused] = [
    ("elmo_classify", "", " has no row"),
    ("elmo_classify", {"txt": "a", "label": "a"}, ":1: there is no field text; did you mean 'txt'"),
    ("elmo_classify", {"text": ["a"], "label": "a"}, r":1: text must be text, not \['a'\]"),
    ("elmo_classify", {"text": "a"}, ":1: there is no field label; there are text"),
    ("elmo_classify", {"text": "a", "label": " "}, " has no row with a text and a label"),
    ("elmo_classify", {"text": "a", "label": ["a"]}, r":1: label must be a label, not \['a'\]"),
]

REFUSED_SETTINGS: list[RefusedSetting] = [
    *[
        ({"type": "elmo_classify", "texts": texts}, "one or two columns")
        for texts in ([], ["a", "a"], ["a", "b", "c"])
    ],
    ({"type": "elmo_classify", "max_tokens": 0}, "max_tokens must be 1 or more"),
]

WITHOUT_WORDS: list[WithoutWords] = [
    ("elmo_classify", ([[]],), "at least one word"),
]


def sentence_file(sentence: str) -> str:
    return json.dumps({"text": sentence, "label": "Positive"})

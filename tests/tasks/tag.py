"""Tags of words and spans, such as parts of speech: a tagger for somebody's own tags."""

from typing import Any

from tests.helpers.promises import (
    NO_SENTENCE,
    SENTENCES,
    TEXT_TO_ENCODER,
    ModelPromise,
    PredictorPromise,
    Refused,
    WithoutWords,
)

MODEL = ModelPromise(
    choices=["{ column: 'xpos', characters: null }"],
    lengths=[{"tokens": 40, "tags": 40}],
    outputs=["loss"],
    at_padding=("mask", "logits"),
    metrics={"accuracy"},
    refused=[TEXT_TO_ENCODER],
)

PREDICTOR = PredictorPromise(
    inputs=[*SENTENCES, {"text": "Rain fell."}, {"tokens": ["Rain"], "text": "x"}],
    of_text=lambda text: {"sentence": text},
    fields=["tokens", "tags", "probabilities"],
    refused=[*NO_SENTENCE, ({"text": " \n"}, "there is no word in the text")],
    explained={"sentence": "Marta left Oslo."},
)

SPANS: dict[str, Any] = {"type": "elmo_tag", "column": "spans", "spans": True}

REFUSED: list[Refused] = [
    ({"type": "elmo_tag", "spans": True}, "a b\n", "the columns must have 'upos'"),
    (SPANS, {"text": "Rain", "spans": [[0, 3, "X"]]}, ":1: the span 0 to 3, 'Rai', does not begin"),
    (SPANS, {"text": "Rain", "spans": [[0, 4]]}, r":1: expected a span as .*, but got \[0, 4\]"),
    (SPANS, {"text": "Rain fell", "spans": [[0, 9, "X"], [5, 9, "Y"]]}, ":1: two spans overlap: '"),
    (SPANS, {"tokens": ["Rain"], "spans": ["N", "V"]}, ":1: there are 1 tokens, but 2 values of s"),
    (SPANS, {"tokens": ["Rain"], "tags": ["N"]}, ':1: expected an object with "tokens" and "spans'),
    (SPANS, {"text": "Rain"}, ':1: expected .* or with "text" and "spans", a list of spans'),
]

WITHOUT_WORDS: list[WithoutWords] = [
    ("elmo_tag", ([],), "at least one token"),
]

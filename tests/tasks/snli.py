"""Inference: ESIM on SNLI."""

import json
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Token

from tests.helpers.promises import (
    TEXT_TO_ENCODER,
    ModelPromise,
    PredictorPromise,
    Refused,
    WithoutWords,
    no_pair,
    wrong,
)
from tests.helpers.reading import words

MODEL = ModelPromise(
    num_texts=2,
    lengths=[{"premise": 40, "hypothesis": 30}, {"premise": 20, "hypothesis": 40}],
    outputs=["logits"],
    metrics={"accuracy"},
    refused=[
        TEXT_TO_ENCODER,
        wrong("projection", r"4 \* output of encoder", "input_dim"),
        wrong("composer", "output of projection"),
        wrong("classifier", r"4 \* output of composer", "input_dim"),
        ("{ classifier+: { hidden_dims: [9, 7] } }", "number of classes .* got 7 and 3"),
    ],
)

PREDICTOR = PredictorPromise(
    inputs=[
        {"premise": "Rain.", "hypothesis": "It rains on all of the old town since noon."},
        {"premise": "A girl feeds two ducks.", "hypothesis": "She isn't asleep."},
    ],
    of_text=lambda text: {"premise": text, "hypothesis": text},
    fields=["label", "probabilities", "premise_tokens", "hypothesis_tokens"],
    refused=no_pair("premise", "hypothesis", "expected .*premise.*hypothesis.*, but got"),
    of_instance=lambda instance: {
        name: " ".join(words(instance, name)) for name in ("premise", "hypothesis")
    },
    explained={"premise": "Two girls throw a ball.", "hypothesis": "Children play."},
    attacked=("hypothesis", "grad_input_1"),
)


def pair(**fields: object) -> str:
    """Returns a line of SNLI with other values; `None` leaves a field out."""
    whole = {"gold_label": "neutral", "sentence1": "A man.", "sentence2": "A cat.", **fields}
    return json.dumps({name: value for name, value in whole.items() if value is not None})


REFUSED: list[Refused] = [
    ("elmo_snli", "", " is empty: its first line must name the columns"),
    (
        "elmo_snli",
        pair(gold_label="maybe"),
        ":1: gold_label must be .*, not 'maybe'; for other .* new classify",
    ),
    ("elmo_snli", pair(gold_label=None), ":1: there is no field gold_label; there are sentence1"),
    ("elmo_snli", {"gold_label": "neutral"}, ":1: there is no field sentence1"),
    (
        "elmo_snli",
        {"premise": "A.", "hypothesis": "B.", "label": 0},
        ":1: expected sentence1, sentence2 and gold_label, as in SNLI, but there are premise, "
        "hypothesis, label; .*elmo-tasks new classify .*in.jsonl --text NAME --text NAME",
    ),
    ("elmo_snli", pair(sentence1=["A"]), r":1: sentence1 must be text, not \['A'\]"),
    ("elmo_snli", pair(sentence2=" \u00a0"), ":1: there is no pair with both texts and"),
    ("elmo_snli", f"{pair()}\n\n{pair()[:20]}", ":3: not JSON: Unterminated string"),
    ("elmo_snli", f"{pair()}\n[{'1' * 60}]", r":2: expected a JSON object, not '\[1{39}'$"),
    ("elmo_snli", f"{pair()}\n".encode() + b'{"x": "caf\xe9"}', ":2: not UTF-8: .*0xe9"),
]

WITHOUT_WORDS: list[WithoutWords] = [
    ("elmo_snli", ([], [Token("a")]), "the premise is empty: it must have at least one token"),
    ("elmo_snli", ([Token("a")], []), "the hypothesis is empty: it must have at least one token"),
]


def sentence_file(sentence: str) -> str:
    texts = {"neutral": sentence, "entailment": ".", "contradiction": "."}
    pairs = [{"gold_label": k, "sentence1": text, "sentence2": "."} for k, text in texts.items()]
    return "\n".join(map(json.dumps, pairs))


def golden_inputs(texts: dict[str, Any]) -> list[JsonDict]:
    return [{"premise": one, "hypothesis": each} for one, of in texts["pairs"] for each in of]

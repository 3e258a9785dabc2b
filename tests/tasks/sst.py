"""Sentiment of sentences: the BCN on SST."""

from functools import reduce
from typing import Any

from allennlp.common.util import JsonDict

from tests.helpers.promises import (
    NO_SENTENCE,
    SENTENCES,
    ModelPromise,
    PredictorPromise,
    Refused,
    RefusedSetting,
    WithoutWords,
    wrong,
)

MODEL = ModelPromise(
    choices=[
        "{ classifier: 'maxout' }",
        "{ output_place: 'integrator' }",
        "{ elmo_layer_norm: 'sentence' }",
        "{ granularity: '2-class' }",
    ],
    lengths=[{"tokens": 40}],
    outputs=["logits"],
    metrics={"accuracy"},
    refused=[
        wrong("feedforward", "output of text_embedder", "input_dim"),
        wrong("encoder", "output of feedforward"),
        wrong("integrator", r"3 \* x"),
        wrong("classifier", r"4 \* output of integrator", "input_dim"),
        ("{ classifier+: { hidden_dims: [9, 9, 7] } }", "number of classes .* got 7 and 5"),
        ("{ output_place: 'roof' }", "encoder or integrator, not 'roof'"),
    ],
)

PREDICTOR = PredictorPromise(
    inputs=SENTENCES,
    of_text=lambda text: {"sentence": text},
    fields=["label", "probabilities", "tokens"],
    refused=NO_SENTENCE,
    explained={"sentence": "An unexpectedly moving film."},
)

REFUSED: list[Refused] = [
    ("elmo_sst", "", ":1: the file is empty"),
    ("elmo_sst", "(3 good)\n\n(3 (2 So) (4 good)\n", ":3: the tree ends before 1 of its brackets"),
    ("elmo_sst", "(5 good)\n", ":1: column 1: expected a node such as .*label from 0 to 4.*'\\(5"),
    ("elmo_sst", b"(3 good)\n(3 caf\xe9)\n", ":2: not UTF-8: .*0xe9"),
]

REFUSED_SETTINGS: list[RefusedSetting] = [
    ({"type": "elmo_sst", "granularity": "fine"}, "5-class, 3-class, 2-class, not 'fine'"),
    ({"type": "elmo_sst", "min_phrase_tokens": 0}, "min_phrase_tokens must be"),
]

WITHOUT_WORDS: list[WithoutWords] = [
    ("elmo_sst", ([],), "at least one token"),
]


def sentence_file(sentence: str) -> str:
    leaves = [f"(2 {word})" for word in sentence.split()]
    trees = [reduce(lambda left, right: f"(2 {left} {right})", leaves)]
    return "\n".join([*trees, *(f"({label} .)" for label in (0, 1, 3, 4))])


def golden_inputs(texts: dict[str, Any]) -> list[JsonDict]:
    return [{"sentence": each} for each in texts["sentences"]]

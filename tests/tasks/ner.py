"""Named entities: the CRF tagger on CoNLL 2003."""

from typing import Any

from allennlp.common.util import JsonDict

from tests.helpers.promises import (
    NO_SENTENCE,
    SENTENCES,
    ModelPromise,
    PredictorPromise,
    Refused,
    RefusedSetting,
)

MODEL = ModelPromise(
    choices=[
        "{ hidden_dims: [4] }",
        "{ characters: null }",
    ],
    lengths=[{"tokens": 40, "tags": 40}],
    outputs=["loss"],
    at_padding=("best_tags", "mask", "logits"),
    # The mask of the constraints is a parameter of AllenNLP's CRF.
    without_gradient=frozenset({"crf._constraint_mask"}),
    metrics={
        f"{name}-{of}"
        for name in ("precision", "recall", "f1-measure")
        for of in ("overall", "PER", "LOC", "ORG", "MISC")
    },
    refused=[
        (
            "{ encoders: [super.encoders[0] { input_size: 5 }] }",
            "output of text_embedder must match input of encoder 1",
        ),
        (
            "{ encoders: [super.encoders[0], super.encoders[1] { input_size: 5 }] }",
            "output of encoder 1 must match input of encoder 2.* 16 and 5",
        ),
        ("{ encoders: [] }", "needs at least one encoder"),
    ],
)

PREDICTOR = PredictorPromise(
    inputs=SENTENCES,
    of_text=lambda text: {"sentence": text},
    fields=["sentence", "tokens", "tags", "entities"],
    refused=NO_SENTENCE,
    with_numbers=False,
    explained={"sentence": "Marta left Oslo for Lisbon."},
)

CONLL: dict[str, Any] = {"type": "elmo_conll", "columns": ["word", "ner"]}

REFUSED: list[Refused] = [
    (CONLL, "-DOCSTART- -X-\n\n", ":1: there is no sentence: expected a token on each line"),
    (CONLL, "Oslo I-LOC\nis\n", r":2: expected 2 columns \(word ner\), but got 1: 'is'"),
    (CONLL, "Oslo I-LOC\nis PERSON\n", ":2: 'PERSON' is not a tag of IOB1 or BIO: .* as B-PER"),
    (CONLL, b"Oslo I-LOC\nMalm\xe9 I-LOC\n", ":2: not UTF-8: .*0xe9"),
    # A single tag of BIOUL makes the whole file one of BIOUL.
    (CONLL, "a I-PER\nb O\nc U-PER\n", ":1: I-PER cannot begin a sentence in BIOUL"),
    (CONLL, "a U-PER\nb O\nc B-PER\n", ":3: B-PER cannot end a sentence in BIOUL"),
]

REFUSED_SETTINGS: list[RefusedSetting] = [
    ({"type": "elmo_conll", "columns": ["ner"]}, "must have 'word' exactly once, but are ner"),
    ({"type": "elmo_conll", "tag_column": "tag"}, "must have 'tag' exactly once, but are word"),
]


def sentence_file(sentence: str) -> str:
    return "".join(f"{word} NN O B-PER\n" for word in sentence.split())


def golden_inputs(texts: dict[str, Any]) -> list[JsonDict]:
    return [{"sentence": each} for each in texts["sentences"]]

"""Semantic roles: the SRL tagger on OntoNotes."""

from typing import Any

from allennlp.common.util import JsonDict

from tests.helpers.promises import (
    NO_SENTENCE,
    SENTENCES,
    ModelPromise,
    PredictorPromise,
    Refused,
    RefusedSetting,
    wrong,
)
from tests.helpers.reading import words

MODEL = ModelPromise(
    choices=["{ num_layers: 3 }"],
    overrides={
        "data_loader.batch_sampler.shuffle": False,
        "validation_data_loader.batch_sampler.shuffle": False,
    },
    lengths=[{"tokens": 40, "tags": 40, "is_predicate": 40}],
    outputs=["loss"],
    at_padding=("best_tags", "mask", "logits", "predicate_logits"),
    metrics={"predicates-f1"}
    | {
        f"{name}-{of}"
        for name in ("precision", "recall", "f1-measure")
        for of in (
            *("overall", "ARG0", "ARG1", "ARG2", "R-ARG0", "R-ARG1"),
            *("ARGM-DIR", "ARGM-LOC", "ARGM-MOD", "ARGM-NEG", "ARGM-TMP"),
        )
    },
    refused=[
        wrong("encoder", "output of text_embedder with predicate_dim"),
        (
            "{ predicate_dim: 7 }",
            "text_embedder with predicate_dim must match input of encoder",
        ),
    ],
)

PREDICTOR = PredictorPromise(
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
)


def text(words: str, *predicates: str) -> str:
    """Returns a sentence in the columns word, predicate and roles, with predicates first."""
    rows = zip(*(column.split() for column in predicates))
    verbs = ["be"] * len(predicates) + ["-"] * 9
    return "".join(f"{' '.join(row)}\n" for row in zip(words.split(), verbs, map(" ".join, rows)))


SRL: dict[str, Any] = {"type": "elmo_srl", "columns": ["word", "predicate", "roles"]}
SRL_INDEXED = {**SRL, "columns": ["index", *SRL["columns"]]}

REFUSED: list[Refused] = [
    (SRL, "#begin document\n", ":1: there is no sentence"),
    (SRL, "rain -\n", ":1: there is no predicate: the column predicate is -"),
    (SRL, text("a b", "(V*) (A1*"), ":2: the bracket of A1 is not closed within the sentence"),
    (SRL, text("a b c", "(V*) * *)"), r":3: '\*\)' closes a bracket, which is not open"),
    (SRL, text("a b c", "(V*) (A1* *A2)"), r":3: '\*A2\)' closes A2, which is not open"),
    (SRL, text("a b c", "(V*) (A1* (A2*)"), ":2: the bracket of A1 is not closed within the sent"),
    (SRL, text("a b c", "(V*) (A1(A2* *A1)A2)"), r":3: '\*A1\)A2\)' closes A1, which is not open"),
    (SRL, text("a b", "(V*) A1"), r":2: a column of roles cannot be 'A1': expected \*, \(ROLE\*"),
    (SRL, text("a b", "(V*) (*)"), r":2: a column of roles cannot be '\(\*\)'"),
    # Two columns for one token: two predicates at it.
    (SRL, "rain - * *\nfell fall (V*) (V*)\n", ":2: .* 1 predicates .* but 2 columns of roles"),
    (SRL, "rain rain (V*)\nfell fall *\n", ":2: .* 2 predicates .* but 1 columns of roles"),
    (SRL, "rain - (A0*)\nfell - *\n", ":1: .* 0 predicates .* but 1 columns of roles"),
    (SRL, "rain -\nfell fall (V*)\n", ":2: expected 0 columns of roles, as on the first .* got 1:"),
    (SRL, "rain\n", r":1: expected at least 2 columns \(word predicate roles\), but got 1: 'rain'"),
    (SRL_INDEXED, "0 a -\n1 b -\n0 c -\n", ":3: expected the index 2 .*'0'; a sentence ends with"),
    (SRL_INDEXED, "0 a -\nx b -\n", ":2: expected the index 1 of a token .*, but got 'x'"),
]

REFUSED_SETTINGS: list[RefusedSetting] = [
    ({"type": "elmo_srl", "columns": ["word", "predicate"]}, "must have 'roles' exactly once"),
    ({"type": "elmo_srl", "columns": ["word", "word", "roles"]}, "must have 'word' exactly once"),
    ({"type": "elmo_srl", "columns": ["word", "roles"]}, "must have 'predicate' exactly once"),
]


def sentence_file(sentence: str) -> str:
    words = sentence.split()
    lines = [f"d 0 {i} {word} XX * - {'-' if i else 'x'} - - *" for i, word in enumerate(words)]
    roles = ["(V*)", "(ARG0*)", *("*" for _ in words)]
    return "".join(f"{line} {role} -\n" for line, role in zip(lines, roles))


def golden_inputs(texts: dict[str, Any]) -> list[JsonDict]:
    return [{"sentence": each} for each in texts["sentences"]]

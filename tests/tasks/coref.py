"""Coreference: clusters of mentions in the documents of OntoNotes."""

from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Instance

from tests.helpers.promises import (
    TEXT_TO_ENCODER,
    ModelPromise,
    PredictorPromise,
    Refused,
    RefusedSetting,
    all_refused,
    wrong,
)

MODEL = ModelPromise(
    choices=["{ characters: null }"],
    overrides={"data_loader.shuffle": False},
    lengths=[{"tokens": 60}],
    outputs=["loss"],
    metrics={
        "f1-measure-mean",
        *(
            f"{name}-{of}"
            for name in ("precision", "recall", "f1-measure")
            for of in ("muc", "b-cubed", "ceaf")
        ),
    },
    refused=[
        TEXT_TO_ENCODER,
        wrong("mention_feedforward", "width of a span", "input_dim"),
        ("{ feature_dim: 5 }", "width of a span must match input of mention_feedforward"),
        wrong("antecedent_feedforward", "3", "input_dim"),
        ("{ spans_per_word: 0 }", "spans_per_word must be above 0, not 0"),
    ],
)


def speakers(instance: Instance) -> list[str]:
    """Returns the speaker of each sentence."""
    of_words = iter(instance["metadata"]["speakers"])
    return [[next(of_words) for _ in each][0] for each in instance["metadata"]["sentences"]]


PREDICTOR = PredictorPromise(
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
    with_numbers=False,
)


def coref(*lines: str) -> str:
    return "\n".join(["#begin document (nw/a); part 000", *lines, "", "#end document", ""])


COREF: dict[str, Any] = {"type": "elmo_coref", "columns": ["word", "speaker", "coreference"]}

REFUSED: list[Refused] = [
    ("elmo_coref", "", ":1: there is no document: expected '#begin document"),
    ("elmo_coref", "Yes - -\n", ":1: expected '#begin document .*', but got 'Yes - -'"),
    ("elmo_coref", "#begin document\n", ":1: expected '#begin document .*, but got '#begin docume"),
    ("elmo_coref", "\n#end document\n", ":2: expected '#begin document .*, but got '#end doc"),
    ("elmo_coref", coref(), ":1: the document nw/a has no sentence"),
    ("elmo_coref", coref("nw/a 0 2 He - - - - - - - * -"), ":2: expected the index 0 or 1 of a"),
    ("elmo_coref", coref("nw/a 0 0 He (0)"), ":2: expected at least 12 columns .*, but got 5"),
    (COREF, '{"doc_key": "a"}', r":1: expected \{\"doc_key\": .*, but got \{'doc_key': 'a'\}"),
    (COREF, '{"sentences": [["a"], 7], "clusters": []}', ":1: a sentence must be a list of words"),
    (COREF, '{"sentences": [[]], "clusters": []}', ":1: the document has no word"),
    (COREF, '{"sentences": [["a"]], "clusters": [[[0, 1]]]}', ":1: a mention must be the indices"),
    (
        COREF,
        '{"sentences": [["a"]], "clusters": [[[0, 0], [0, 0]]]}',
        ":1: a cluster has a mention",
    ),
    (
        COREF,
        '{"sentences": [["a"]], "clusters": [], "speakers": [["x", "y"]]}',
        ":1: speakers must be 1 names, one for each sentence, or",
    ),
    (
        COREF,
        '{"sentences": [["a"]], "clusters": [], "subtoken_map": [0]}',
        ":1: the sentences consist of parts of words",
    ),
    (COREF, coref("Yes - -", "no -"), r":3: expected 3 columns \(word .*, but got 2: 'no -'"),
    (COREF, coref("a - (0", "b - -"), r":2: the bracket '\(0' is not closed within the sentence"),
    (COREF, coref("a - (0", "", "b - 0)"), r":2: the bracket '\(0' is not closed within the sent"),
    (COREF, coref("a - -", "b - (1)|0)"), r":3: '\(1\)\|0\)' closes 0, which is not open"),
    (COREF, coref("a - -", "b - 7"), ":3: the column coreference cannot be '7': expected -"),
    (COREF, coref("a - (1(2)2)"), ":2: the column coreference cannot be"),
    (COREF, coref("a - (1)|(1)"), ":2: the cluster 1 has the mention that ends here twice"),
]

REFUSED_SETTINGS: list[RefusedSetting] = [
    ({**COREF, "columns": ["word"]}, "must have 'coreference' exactly once"),
    ({**COREF, "columns": ["word", "word", "coreference"]}, "must have 'word' exactly once"),
    ({**COREF, "columns": [*COREF["columns"], "speaker"]}, "must have 'speaker' exactly once"),
    ({**COREF, "columns": [*COREF["columns"], *2 * ["roles"]]}, "must have 'roles' exactly once"),
]


def sentence_file(sentence: str) -> str:
    lines = [f"d 0 {i} {word} XX * - - - - * -\n" for i, word in enumerate(sentence.split())]
    return "".join(["#begin document (nw/d); part 000\n", *lines, "\n#end document\n"])


def golden_inputs(texts: dict[str, Any]) -> list[JsonDict]:
    return [{"document": each} for each in texts["documents"]]

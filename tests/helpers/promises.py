"""What the modules of `tests/tasks/` say that tasks promise, and what several of them need."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from allennlp.common.util import JsonDict
from allennlp.data import Instance

from tests.helpers.reading import words


class ModelPromise(NamedTuple):
    """
    # Parameters

    lengths: Numbers of tokens that the fields of three instances are padded to.
    outputs: Outputs that must not depend on the padding.
    metrics: Names of the metrics, without those of the mixes.
    refused: Changes of the model that cannot be, mostly widths, and the complaints.
    choices: Changes of `both` that are trained beside the variants.
    overrides: Settings that make two data loaders give the same batches, which AllenNLP compares.
    num_texts: Texts of an instance.
    at_padding: Outputs that have values at padding, which nothing reads.
    without_gradient: Parameters that are fixed, beside those of the biLM.
    """

    lengths: list[dict[str, int]]
    outputs: list[str]
    metrics: set[str]
    refused: list[tuple[str, str]]
    choices: list[str] = []
    overrides: dict[str, Any] = {"data_loader.batch_sampler.shuffle": False}
    num_texts: int = 1
    at_padding: tuple[str, ...] = ()
    without_gradient: frozenset[str] = frozenset()


class PredictorPromise(NamedTuple):
    """
    # Parameters

    inputs: Inputs of different lengths.
    of_text: Returns an input whose text is given.
    fields: The fields of an answer, in their order.
    refused: Inputs, and what the message says of them.
    of_instance: Returns the input that asks about an instance of a file.
    num_lines: The lines of an answer in text.
    with_numbers: Whether every answer has numbers.
    explained: An input that AllenNLP's interpreters explain, if an input has one answer.
    attacked: The text of it that an attacker changes, and the key of its gradient.
    """

    inputs: list[JsonDict]
    of_text: Callable[[str], JsonDict]
    fields: list[str]
    refused: list[tuple[Any, str]]
    of_instance: Callable[[Instance], JsonDict] = lambda instance: {"tokens": words(instance)}
    num_lines: Callable[[JsonDict], int] = lambda answer: 1
    with_numbers: bool = True
    explained: JsonDict | None = None
    attacked: tuple[str, str] = ("tokens", "grad_input_1")


# The reader (a name, or a config), a file's content, and words of the message behind its name. The
# file is named `in.` and the reader's format.
Refused: TypeAlias = tuple[str | dict[str, Any], str | bytes | Mapping[str, object], str]
# Settings of a reader that cannot be, and what the message says of them.
RefusedSetting: TypeAlias = tuple[dict[str, Any], str]
# The reader, the arguments of `text_to_instance` for a text without a word, and the message.
WithoutWords: TypeAlias = tuple[str, tuple[Any, ...], str]


def promises() -> dict[str, ModuleType]:
    """
    Returns the modules of `tests/tasks/` by the names of the tasks. Each has `MODEL` and
    `PREDICTOR`, and may have `REFUSED`, `REFUSED_SETTINGS` and `WITHOUT_WORDS`, which are what its
    reader refuses. `sentence_file` returns a training file of a sentence, whose tokens are
    separated by spaces; the file also has an instance of each other class, whose only words are
    full stops. `golden_inputs` returns the inputs of a trained model from `golden/inputs.json`.
    """
    names = [path.stem for path in sorted(Path(__file__).parents[1].glob("tasks/*.py"))]
    return {name: importlib.import_module(f"tests.tasks.{name}") for name in names}


def of_every_reader(name: str) -> list[Any]:
    """Returns what the readers of all tasks refuse, in the lists of this name."""
    return [each for module in promises().values() for each in getattr(module, name, [])]


def wrong(module: str, source: str, field: str = "input_size") -> tuple[str, str]:
    """Returns a change of the width that a module reads, and the complaint."""
    return f"{{ {module}+: {{ {field}: 5 }} }}", f"{source}.* must match input of {module}"


# A change of the first encoder, which reads the embedded text.
TEXT_TO_ENCODER = wrong("encoder", "output of text_embedder")


def all_refused(message: str, *inputs: Any) -> list[tuple[Any, str]]:
    return [(each, message) for each in inputs]


SENTENCES: list[JsonDict] = [
    {"sentence": "Rain."},
    {"sentence": "The storm broke two windows in Oslo and frightened the dog."},
    {"tokens": ["Marta", "left", "7\u00a03/4", "."]},
]
NO_SENTENCE = [
    *all_refused(
        r'expected \{"sentence": "raw text"\} or .*, but got',
        *({}, "Fine.", 7, {"sentence": ["Fine"]}, {"sentence": None}),
    ),
    *all_refused("tokens must be a list of words", {"tokens": "Fine."}, {"tokens": ["a", 1]}),
    ({"sentence": "Fine.", "tokens": ["Fine", ""]}, "tokens must be a list of words"),
    *all_refused("no word in the sentence", {"sentence": " \n"}, {"tokens": []}),
]


def no_pair(first: str, second: str, expected: str) -> list[tuple[Any, str]]:
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

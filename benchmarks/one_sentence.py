"""
Measures what one sentence of 20 tokens costs `base` and each model of the package, and where the
time goes. Prints a table in Markdown.

    python -m benchmarks.one_sentence [--models sst ner] [--turns 50]

Times are milliseconds of CPU time on one thread, medians over the turns. The models take turns.
They forget the words, so that each turn costs what new words cost, unless `--known-words` is given.
SNLI also has a hypothesis of 7 tokens, and SQuAD a question of 6.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import torch
from allennlp.data import Batch

import elmo_tasks
import elmo_tasks.plugin
from benchmarks.harness import parser, report
from elmo_tasks import ElmoEncoder
from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.elmo import sentence_layers

SENTENCE = (
    "The old captain told his crew that the storm would reach the small harbour before they could "
    "repair it."
)
INPUTS = {
    "sst": {"sentence": SENTENCE},
    "ner": {"sentence": SENTENCE},
    "snli": {"premise": SENTENCE, "hypothesis": "A captain spoke to his crew."},
    "squad": {"passage": SENTENCE, "question": "What would the storm reach?"},
    "srl": {"sentence": SENTENCE},
    "coref": {"document": SENTENCE},
}
MODELS = ("base", *INPUTS)
PARTS = ("from text to tensors", "character CNN", "LSTMs", "task model", "the rest")

# The methods of predictors, readers and batches that make tensors of text.
_READING = (
    *("_json_to_instance", "_document", "_sentence", "_predicates"),
    *("text_to_instance", "text_to_instances", "apply_token_indexers"),
)
_BATCHING = ("index_instances", "as_tensor_dict")


# A part, and an object and its method whose time belongs to this part.
Place = tuple[str, Any, str]


class Run(NamedTuple):
    """A question to a model, and what is timed meanwhile."""

    ask: Callable[[], Any]
    places: list[Place]


class Clock:
    """Adds up the CPU time of each part. A part within another one is not counted twice."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._switch()
        self._open.append(name)
        try:
            yield
        finally:
            self._switch()
            self._open.pop()

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with self.part(name):
                return function(*args, **kwargs)

        return run

    def _switch(self) -> None:
        """Gives the time since the last switch to the innermost part."""
        now = time.thread_time()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now


def main() -> None:
    made = parser("one_sentence", __doc__, turns=50)
    add = made.add_argument
    add("--models", nargs="+", choices=MODELS, default=MODELS, help="default: all")
    add("--known-words", action="store_true", help="let the models remember the words")
    arguments = made.parse_args()
    torch.set_num_threads(1)
    runs = {name: prepare(name, arguments.known_words) for name in arguments.models}
    taken = defaultdict(list)
    # The first turn warms up.
    for turn in range(arguments.turns + 1):
        for name, (ask, places) in runs.items():
            parts = parts_of(ask, places)
            if turn > 0:
                taken[name].append({"in all": sum(parts.values()), **parts})
    rows = []
    for name, turns in taken.items():
        each = ([turn.get(part, 0) for turn in turns] for part in ("in all", *PARTS))
        rows.append([f"`{name}`", *(f"{1000 * statistics.median(part):.1f}" for part in each)])
    about = f"milliseconds of CPU time, medians of {arguments.turns} turns"
    report(["model", "in all", *PARTS], rows, about)


def parts_of(ask: Callable[[], Any], places: list[Place]) -> dict[str, float]:
    """Asks a question, and returns the seconds of each part and of the rest."""
    clock = Clock()
    with ExitStack() as stack:
        for part, owner, method in places:
            timed = clock.timed(part, getattr(owner, method))
            stack.enter_context(mock.patch.object(owner, method, timed))
        with clock.part("the rest"):
            ask()
    return clock.seconds


def prepare(name: str, known_words: bool) -> Run:
    """Loads a model."""
    if name == "base":
        encoder, words = ElmoEncoder.from_pretrained(name), SENTENCE.replace(".", " .").split()
        places: list[Place] = [("from text to tensors", sentence_layers, "batch_char_ids")]
        bilm: FrozenBiLm = encoder.bilm
        ask: Callable[[], Any] = partial(encoder, [words])
    else:
        predictor = elmo_tasks.load(name).predictor
        model, reader = predictor._model, predictor._dataset_reader
        places = [
            ("from text to tensors", place, method)
            for place, methods in ((predictor, _READING), (reader, _READING), (Batch, _BATCHING))
            for method in methods
            if hasattr(place, method)
        ]
        # The predictor of SQuAD asks for scores, of which it chooses answers itself.
        places.append(("task model", model, "score" if name == "squad" else "forward"))
        bilm = model.text_embedder.bilm
        ask = partial(predictor.predict_batch_json, [INPUTS[name]])
    if not known_words:
        bilm.cached_tokens = 0
    places += [("LSTMs", bilm, "forward"), ("character CNN", bilm, "token_vectors")]
    return Run(ask, places)


if __name__ == "__main__":
    main()

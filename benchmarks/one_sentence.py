"""
Measures what one sentence of 20 tokens costs `base` and each model of the package. Prints a table
in Markdown.

    python -m benchmarks.one_sentence [--models sst ner] [--turns 50]

Times are milliseconds of CPU time on one thread, medians over the turns. The models take turns.
They forget the words, so that each turn costs what new words cost, unless `--known-words` is given.
SNLI also has a hypothesis of 7 tokens, and SQuAD a question of 6.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

import elmo_tasks
import elmo_tasks.plugin
from benchmarks.harness import alternate, parser, report
from elmo_tasks import ElmoEncoder

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


def main() -> None:
    options = parser("one_sentence", __doc__, turns=50)
    add = options.add_argument
    add("--models", nargs="+", choices=MODELS, default=MODELS, help="default: all")
    add("--known-words", action="store_true", help="let the models remember the words")
    arguments = options.parse_args()
    torch.set_num_threads(1)
    works = {name: prepare(name, arguments.known_words) for name in arguments.models}
    times = alternate(works, arguments.turns)
    rows = [[f"`{name}`", f"{1000 * seconds.cpu:.1f}"] for name, seconds in times.items()]
    report(["model", "ms"], rows, f"CPU time, medians of {arguments.turns} turns")


def prepare(name: str, known_words: bool) -> Callable[[], Any]:
    """Loads a model, and returns what asks it."""
    if name == "base":
        encoder = ElmoEncoder.from_pretrained(name)
        bilm, ask = encoder.bilm, partial(encoder, [SENTENCE.replace(".", " .").split()])
    else:
        predictor = elmo_tasks.load(name).predictor
        bilm = predictor._model.text_embedder.bilm
        ask = partial(predictor.predict_batch_json, [INPUTS[name]])
    if not known_words:
        bilm.cached_tokens = 0
    return ask


if __name__ == "__main__":
    main()

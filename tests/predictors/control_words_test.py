"""Tests that a word of a text is never a control word of the vocabulary."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import elmo_tasks
from tests.helpers.archives import classifier, language_model, task_model

# An input of each task, whose text is the given one.
INPUTS: dict[str, Any] = {
    "classify": lambda text: {"text": text},
    "coref": lambda text: {"document": text},
    "ner": lambda text: {"sentence": text},
    "snli": lambda text: {"premise": text, "hypothesis": text},
    "squad": lambda text: {"passage": text, "question": text},
    "srl": lambda text: {"tokens": text.split(), "predicates": [0]},
    "sst": lambda text: {"sentence": text},
    "tag": lambda text: {"sentence": text},
    "language model": lambda text: {"sentence": text, "place": 0, "top_k": 2},
    "AllenNLP's classifier": lambda text: {"sentence": text},
}
OTHER_ARCHIVES: dict[str, Any] = {
    "language model": language_model,
    "AllenNLP's classifier": classifier,
}


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    for child in value.values() if isinstance(value, dict) else ():
        yield from numbers(child)
    for child in value if isinstance(value, list) else ():
        yield from numbers(child)


@pytest.mark.parametrize("task", INPUTS)
def test_a_control_word_in_a_text_has_a_finite_answer(task: str, tmp_path: Path) -> None:
    other = OTHER_ARCHIVES.get(task)
    archive = other(tmp_path) if other is not None else task_model(tmp_path, task, "both")
    model = elmo_tasks.load(archive)

    for text in ("@@PADDING@@", "@@UNKNOWN@@", "An @@PADDING@@ @@PADDING@@ @@UNKNOWN@@"):
        answer = model.predict(INPUTS[task](text))

        assert all(map(math.isfinite, numbers(answer)))
        assert task != "squad" or answer.probability > 0
        json.dumps(answer, allow_nan=False)

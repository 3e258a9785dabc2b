import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.common.batches import groups_of
from elmo_tasks.predictors.text_inputs import read_inputs

# The number of examples that are answered at a time.
_BATCH = 16


class Difference(NamedTuple):
    """
    How the answers of two models differ.

    # Parameters

    num_answers: The number of answers.
    num_changed: The number of answers that differ in something other than numbers, such as the
        label.
    largest: For each key of an answer, the largest difference between the models' numbers.
    """

    num_answers: int
    num_changed: int
    largest: dict[str, float]


def compare(
    archive_file: str | os.PathLike, folder: str | os.PathLike, examples: str
) -> Difference:
    """
    Compares the answers of a published model with the answers of the original.

    # Parameters

    archive_file, folder: As for `publish`.
    examples: The path of inputs, as `read_inputs` reads them.
    """
    predictors = [Predictor.from_archive(load_archive(each)) for each in (archive_file, folder)]
    num_answers = num_changed = 0
    largest: dict[str, float] = {}
    for group in groups_of(read_inputs(examples, predictors[0]).located, _BATCH):
        inputs = [each.json for each in group]
        for one, other in zip(*(each.predict_batch_json(inputs) for each in predictors)):
            num_answers += 1
            changed = False
            for key, difference in _differences(one, other):
                changed |= difference is None
                largest[key] = max(largest.get(key, 0.0), difference or 0.0)
            num_changed += changed
    return Difference(num_answers, num_changed, largest)


def _differences(one: Any, other: Any, key: str = "") -> Iterator[tuple[str, float | None]]:
    """
    Yields the key and the difference of each number. For anything else that differs, yields the key
    and `None`.
    """
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            # Nested values, such as those of `probabilities`, count under the outer key.
            yield from _differences(one[name], other[name], key or name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for left, right in zip(one, other):
            yield from _differences(left, right, key)
    elif isinstance(one, float) and isinstance(other, float):
        yield key, abs(one - other)
    elif one != other:
        yield key, None

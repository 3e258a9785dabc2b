from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.predictors.stream import answers_only, reason, stream


class Model:
    """Doubles numbers and refuses all else. It remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []

    def __call__(self, inputs: list[Any]) -> list[Any]:
        self.batches.append(inputs)
        for each in inputs:
            if not isinstance(each, int):
                raise TypeError(f"{each!r} is no number")
        return [2 * each for each in inputs]


UNREADABLE = ValueError("no JSON")


@given(
    inputs=st.lists(st.one_of(st.integers(), st.text(max_size=1), st.just(UNREADABLE))),
    size=st.integers(1, 40),
)
def test_each_input_has_its_answer_or_its_error(inputs: list[Any], size: int) -> None:
    model = Model()

    found = list(stream(model, iter(inputs), size))

    assert len(found) == len(inputs)
    for each, answer in zip(inputs, found):
        if each is UNREADABLE:
            assert answer is UNREADABLE
        elif isinstance(each, str):
            assert reason(answer) == f"TypeError: {each!r} is no number"
        else:
            assert answer == 2 * each
    assert all(0 < len(batch) <= size for batch in model.batches)


def test_one_bad_input_of_a_group_costs_few_batches() -> None:
    model = Model()

    found = list(stream(model, [*range(20), "x", *range(11)]))

    assert [k for k, each in enumerate(found) if isinstance(each, Exception)] == [20]
    assert [len(batch) for batch in model.batches if "x" not in batch] == [16, 4, 1, 2, 8]


def numbers(read: list[int]) -> Iterator[int]:
    """Yields numbers without end, and notes how many were read."""
    while True:
        read.append(len(read))
        yield read[-1]


def test_inputs_are_read_lazily() -> None:
    read: list[int] = []

    answers = stream(Model(), numbers(read))

    assert not read
    assert [next(answers) for _ in range(33)] == list(range(0, 66, 2))
    assert len(read) == 64


def test_what_was_read_before_a_damaged_place_is_answered() -> None:
    def damaged() -> Iterator[int]:
        yield from (1, 2)
        raise OSError("the disk is damaged")

    answers = stream(Model(), damaged())

    assert [next(answers), next(answers)] == [2, 4]
    with pytest.raises(OSError, match="the disk is damaged"):
        next(answers)


def test_answers_only_raises_the_first_error() -> None:
    answers = answers_only(stream(Model(), [1, "x", "y"]))

    assert next(answers) == 2
    with pytest.raises(TypeError, match="'x' is no number"):
        next(answers)


def test_inputs_with_long_texts_are_answered_in_smaller_groups() -> None:
    sizes: list[int] = []

    def answer_all(inputs: list[dict[str, str]]) -> list[int]:
        sizes.append(len(inputs))
        return [len(each["passage"]) for each in inputs]

    lengths = [50_000] * 7 + [200_000] + [10] * 40
    inputs = [{"question": "Who?", "passage": "a" * length} for length in lengths]

    assert list(stream(answer_all, inputs)) == lengths
    assert sizes == [3, 3, 2, 32, 8]

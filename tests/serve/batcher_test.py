import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from torch import nn

from elmo_tasks.serve.batcher import Batcher
from elmo_tasks.serve.giving_up import can_give_up


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


class Model:
    """Doubles numbers, and refuses everything else. It remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.may_answer = Event()
        self.may_answer.set()

    def __call__(self, inputs: list[Any]) -> list[Any]:
        self.may_answer.wait()
        self.batches.append(inputs)
        for each in inputs:
            if not isinstance(each, int):
                raise ValueError(f"{each!r} is no number")
        return [2 * each for each in inputs]


def test_what_waits_while_the_model_works_is_the_next_batch(executor: ThreadPoolExecutor) -> None:
    model = Model()
    batcher = Batcher(model, executor, max_inputs=4)

    async def ask() -> list[list[Any]]:
        model.may_answer.clear()
        asking = [asyncio.ensure_future(batcher.answer([k, 10 * k])) for k in range(4)]
        await asyncio.sleep(0.01)
        model.may_answer.set()
        return await asyncio.gather(*asking)

    answers = asyncio.run(ask())

    assert answers == [[0, 0], [2, 20], [4, 40], [6, 60]]
    assert model.batches == [[0, 0, 1, 10], [2, 20, 3, 30]]


def test_a_batch_has_a_limit_of_words_padding_included(executor: ThreadPoolExecutor) -> None:
    batches = []

    def predict(inputs: list[str]) -> list[str]:
        batches.append(inputs)
        return inputs

    texts = ["a", "a b c", "a b", "a b c d e f g h i", "a"]
    asyncio.run(Batcher(predict, executor, max_words=6).answer(texts))

    assert batches == [["a", "a b c"], ["a b"], ["a b c d e f g h i"], ["a"]]


def test_a_bad_input_does_not_harm_the_others_of_its_batch(executor: ThreadPoolExecutor) -> None:
    model = Model()
    batcher = Batcher(model, executor)

    async def ask() -> list[Any]:
        asking = [batcher.answer(inputs) for inputs in ([1], ["x"], [2, "y"], [3])]
        return await asyncio.gather(*asking, return_exceptions=True)

    answers = asyncio.run(ask())

    assert answers[0] == [2] and answers[3] == [6]
    assert str(answers[1]) == "'x' is no number"
    assert str(answers[2]) == "input 2 of 2: 'y' is no number"


def test_nothing_is_computed_for_a_caller_that_has_gone(executor: ThreadPoolExecutor) -> None:
    model = Model()
    batcher = Batcher(model, executor, max_inputs=1)

    async def ask() -> list[Any]:
        model.may_answer.clear()
        first, gone, last = [asyncio.ensure_future(batcher.answer([k])) for k in (1, 2, 3)]
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.sleep(0.01)
        model.may_answer.set()
        return await asyncio.gather(first, last)

    assert asyncio.run(ask()) == [[2], [6]]
    assert model.batches == [[1], [3]]


def test_a_batch_that_nobody_waits_for_is_given_up(executor: ThreadPoolExecutor) -> None:
    entered, may_go_on = Event(), Event()
    module = nn.Identity()
    can_give_up(module)
    finished = []

    def predict(inputs: list[int]) -> list[int]:
        entered.set()
        assert may_go_on.wait(5)
        finished.extend(module(inputs))
        return inputs

    async def ask() -> list[Any]:
        batcher = Batcher(predict, executor)
        gone = asyncio.ensure_future(batcher.answer([1, 2]))
        await asyncio.to_thread(entered.wait, 5)
        gone.cancel()
        await asyncio.sleep(0.01)
        may_go_on.set()
        return await batcher.answer([3])

    assert asyncio.run(ask()) == [3]
    assert finished == [3]


def test_the_batcher_works_on_after_it_was_idle(executor: ThreadPoolExecutor) -> None:
    batcher = Batcher(Model(), executor)

    async def ask() -> list[Any]:
        return [await batcher.answer([1]), await batcher.answer([]), await batcher.answer([2])]

    assert asyncio.run(ask()) == [[2], [], [4]]

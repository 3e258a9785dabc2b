import asyncio
from collections.abc import Awaitable
from threading import Event
from typing import Any

import pytest

from elmo_tasks.serve import worker
from elmo_tasks.serve.worker import Stopped, Worker, count_words


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


def all_at_once(*asking: Awaitable[list[Any]], models: list[Model]) -> list[Any]:
    """Asks the worker while the models are held, and returns the answers or errors."""

    async def ask() -> list[Any]:
        for model in models:
            model.may_answer.clear()
        tasks = [asyncio.ensure_future(each) for each in asking]
        await asyncio.sleep(0.01)
        for model in models:
            model.may_answer.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(ask())


def test_what_waits_for_one_model_is_its_next_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "GROUP", 4)
    one, other = Model(), Model()
    works = Worker(10)

    answers = all_at_once(
        *(works.answer(one, [k, 10 * k]) for k in range(2)),
        works.answer(other, [7]),
        *(works.answer(one, [k, 10 * k]) for k in range(2, 4)),
        models=[one, other],
    )

    assert answers == [[0, 0], [2, 20], [14], [4, 40], [6, 60]]
    assert one.batches == [[0, 0, 1, 10], [2, 20, 3, 30]] and other.batches == [[7]]


def test_a_batch_has_a_limit_of_words_padding_included(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_MAX_WORDS", 6)
    batches = []

    def predict(inputs: list[str]) -> list[str]:
        batches.append(inputs)
        return inputs

    texts = ["a", "a b c", "a b c d", "a b c d e f g h i", "a"]
    assert asyncio.run(Worker(1).answer(predict, texts)) == texts

    assert batches == [["a", "a b c"], ["a b c d"], ["a b c d e f g h i"], ["a"]]


def test_a_bad_input_does_not_harm_the_others_of_its_batch() -> None:
    model, works = Model(), Worker(10)

    answers = all_at_once(
        *(works.answer(model, inputs) for inputs in ([1], ["x"], [2, "y"], [3])),
        models=[model],
    )

    assert answers[0] == [2] and answers[3] == [6]
    (refused,), (four, also_refused) = answers[1:3]
    assert isinstance(refused, ValueError) and str(refused) == "'x' is no number"
    assert four == 4 and isinstance(also_refused, ValueError)
    assert str(also_refused) == "'y' is no number"


def test_the_worker_works_on_after_it_was_idle() -> None:
    works, model = Worker(1), Model()

    async def ask() -> list[Any]:
        return [await works.answer(model, inputs) for inputs in ([1], [], [2])]

    assert asyncio.run(ask()) == [[2], [], [4]]


def test_inputs_of_a_cancelled_request_are_left_out() -> None:
    model, works = Model(), Worker(10)

    async def ask() -> list[Any]:
        model.may_answer.clear()
        tasks = [asyncio.ensure_future(works.answer(model, [0]))]
        await asyncio.sleep(0.01)
        tasks += [asyncio.ensure_future(works.answer(model, [k])) for k in range(1, 4)]
        await asyncio.sleep(0.01)
        tasks[1].cancel()
        tasks[3].cancel()
        model.may_answer.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, gone, second, gone_too = asyncio.run(ask())

    assert (first, second) == ([0], [4])
    assert isinstance(gone, asyncio.CancelledError) and isinstance(gone_too, asyncio.CancelledError)
    assert model.batches == [[0], [2]]


@pytest.mark.parametrize("seconds", [0.01, 5])
def test_a_stopped_worker_refuses_what_waits_and_then_what_it_computes(seconds: float) -> None:
    model, works = Model(), Worker(10)

    async def ask() -> list[Any]:
        model.may_answer.clear()
        computed = asyncio.ensure_future(works.answer(model, [1]))
        await asyncio.sleep(0.01)
        waiting = asyncio.ensure_future(works.answer(model, [2]))
        await asyncio.sleep(0.01)
        assert works.is_busy
        stopping = asyncio.ensure_future(works.stop(seconds))
        refused = (await asyncio.gather(waiting, return_exceptions=True))[0]
        if seconds > 1:
            model.may_answer.set()
        found = await asyncio.gather(computed, works.answer(model, [3]), return_exceptions=True)
        await stopping
        model.may_answer.set()
        while works.is_busy:
            await asyncio.sleep(0.01)
        return [refused, *found]

    waiting, computed, late = asyncio.run(ask())

    assert isinstance(waiting, Stopped) and isinstance(late, Stopped)
    assert computed == [2] if seconds > 1 else isinstance(computed, Stopped)
    assert model.batches == [[1]]


@pytest.mark.parametrize(
    "value, expected",
    [
        ("Two words.", 3),
        ("", 0),
        ({"tokens": ["A", "b-c"], "top_k": 5}, 4),
        # Vowel signs belong to a word of Hindi; Chinese is cut into characters.
        ("बिल्ली सो रही है।", 5),
        ("猫在睡觉。", 5),
        # spaCy makes each of them a token.
        ("____ a", 5),
        ([{"a": "x y"}, {"b": {"c": ["z"]}}, None, 3.5], 3),
    ],
)
def test_words_and_marks_of_all_strings_are_counted(value: object, expected: int) -> None:
    assert count_words(value) == expected

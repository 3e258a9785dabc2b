import asyncio
import functools
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

from elmo_tasks.serve.giving_up import give_up_when
from elmo_tasks.serve.word_count import count_words


class _Waiting(NamedTuple):
    input: Any
    num_words: int
    answer: asyncio.Future


class Batcher:
    """
    Answers inputs in batches. While the model answers one batch, the inputs of other requests wait
    for the next batch. An input that finds the model idle does not wait.

    # Parameters

    predict: Returns an answer for each input. It is called in `executor`.
    executor: The threads that models run in.
    max_inputs (default `32`): The most inputs of a batch.
    max_words (default `4096`): The most words of a batch, padding included; a longer input is a
        batch of its own.
    """

    def __init__(
        self,
        predict: Callable[[list[Any]], list[Any]],
        executor: Executor,
        max_inputs: int = 32,
        max_words: int = 4096,
    ) -> None:
        self._predict = predict
        self._executor = executor
        self._max_inputs = max_inputs
        self._max_words = max_words
        self._waiting: deque[_Waiting] = deque()
        self._worker: asyncio.Task | None = None

    async def answer(self, inputs: list[Any]) -> list[Any]:
        """
        Returns an answer for each input. If the caller is cancelled, inputs that still wait are
        never computed. A batch is given up if nobody else waits for it.

        # Raises

        `ValueError`: The predictor refuses an input. If there are several inputs, the message
            begins with the index of the input, counted from 1.
        """
        loop = asyncio.get_running_loop()
        waiting = [_Waiting(each, count_words(each), loop.create_future()) for each in inputs]
        self._waiting.extend(waiting)
        if waiting and self._worker is None:
            self._worker = loop.create_task(self._work())
        try:
            found = await asyncio.gather(*(each.answer for each in waiting), return_exceptions=True)
        finally:
            for each in waiting:
                each.answer.cancel()
        for index, answer in enumerate(found, start=1):
            if isinstance(answer, ValueError) and len(inputs) > 1:
                raise ValueError(f"input {index} of {len(inputs)}: {answer}") from answer
            if isinstance(answer, BaseException):
                raise answer
        return found

    async def _work(self) -> None:
        try:
            while batch := self._next_batch():
                await self._answer_batch(batch)
        finally:
            self._worker = None

    def _next_batch(self) -> list[_Waiting]:
        """Takes the first inputs whose answers somebody still waits for."""
        batch: list[_Waiting] = []
        longest = 0
        while self._waiting and len(batch) < self._max_inputs:
            longest = max(longest, self._waiting[0].num_words)
            if batch and longest * (len(batch) + 1) > self._max_words:
                break
            each = self._waiting.popleft()
            if not each.answer.done():
                batch.append(each)
        return batch

    async def _answer_batch(self, batch: list[_Waiting]) -> None:
        loop = asyncio.get_running_loop()
        compute = functools.partial(self._compute, batch)
        try:
            answers = await loop.run_in_executor(self._executor, compute)
        except Exception as error:
            if len(batch) > 1:
                # A bad input must not make the other requests fail.
                for each in batch:
                    if not each.answer.done():
                        await self._answer_batch([each])
            elif not batch[0].answer.done():
                batch[0].answer.set_exception(error)
            return
        for each, answer in zip(batch, answers, strict=True):
            if not each.answer.done():
                each.answer.set_result(answer)

    def _compute(self, batch: list[_Waiting]) -> list[Any]:
        with give_up_when(lambda: all(each.answer.done() for each in batch)):
            return self._predict([each.input for each in batch])

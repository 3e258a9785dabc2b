import asyncio
import re
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from elmo_tasks.predictors.stream import GROUP, stream

# Returns the answer to each input in JSON.
Predict = Callable[[list[Any]], list[Any]]

# The most words of a batch, padding included. A longer input is a batch of its own.
_MAX_WORDS = 4096

# Vowel signs and accents, which belong to the letter before them.
_SIGNS = "".join(
    chr(code) for code in range(0x300, 0xFE30) if unicodedata.category(chr(code)).startswith("M")
)

# Letters of scripts without blanks: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

# Matches a run of letters (with their signs) and digits, one letter of a script without blanks, or
# any other single character but white space. Tokenizers find about as many tokens.
_WORD = re.compile(rf"(?:[^\W_{_ALONE}][{_SIGNS}]*)+|[{_ALONE}]|[^\w\s]|_")


class Stopped(Exception):
    """Raised for an input that is waiting when the server stops."""


class _Waiting(NamedTuple):
    predict: Predict
    input: Any
    num_words: int
    answer: asyncio.Future


class Worker:
    """
    Computes the answers of all models on one thread, because all models share the cores. At most
    `max_requests` requests wait for answers. Waiting inputs of the same model make up the next
    batch. Inputs of a cancelled request are left out.
    """

    def __init__(self, max_requests: int) -> None:
        self._max_requests = max_requests
        self._num_requests = 0
        self._thread = ThreadPoolExecutor(1, "model")
        self._waiting: list[_Waiting] = []
        self._batch: list[_Waiting] = []
        self._is_stopped = False
        self._task: asyncio.Task | None = None

    async def answer(self, predict: Predict, inputs: list[Any]) -> list[Any]:
        """
        Returns the answer or the error of each input of a request.

        # Raises

        `asyncio.QueueFull`: Too many requests wait already.
        `Stopped`: The worker was stopped.
        """
        if self._is_stopped:
            raise Stopped
        if self._num_requests >= self._max_requests:
            raise asyncio.QueueFull
        loop = asyncio.get_running_loop()
        answers = [loop.create_future() for _ in inputs]
        self._waiting += [
            _Waiting(predict, item, count_words(item), answer)
            for item, answer in zip(inputs, answers)
        ]
        self._num_requests += 1
        try:
            if self._task is None:
                self._task = loop.create_task(self._work())
            results = await asyncio.gather(*answers, return_exceptions=True)
        finally:
            self._num_requests -= 1
        for answer_or_error in results:
            if isinstance(answer_or_error, Stopped | asyncio.CancelledError):
                raise answer_or_error
        return results

    @property
    def is_busy(self) -> bool:
        """Whether the thread computes."""
        return bool(self._batch)

    async def stop(self, seconds: float) -> None:
        """
        Refuses the waiting inputs and all new inputs with `Stopped`. The batch in progress has
        `seconds` to end; then its inputs are refused too.
        """
        self._is_stopped = True
        waiting, self._waiting = self._waiting, []
        for request in waiting:
            _set_answer(request.answer, Stopped())
        answers_begun = [request.answer for request in self._batch]
        if answers_begun:
            await asyncio.wait(answers_begun, timeout=seconds)
        for answer in answers_begun:
            _set_answer(answer, Stopped())

    async def _work(self) -> None:
        try:
            while self._waiting:
                if batch := self._next_batch():
                    await self._answer(batch)
        finally:
            self._task = None

    def _next_batch(self) -> list[_Waiting]:
        """Takes the first waiting input, and further inputs of its model that fit in the batch."""
        batch: list[_Waiting] = []
        others_waiting: list[_Waiting] = []
        longest = 0
        # A request whose client has gone is cancelled.
        for request in [request for request in self._waiting if not request.answer.done()]:
            num_words = max(longest, request.num_words) * (len(batch) + 1)
            if batch and (
                request.predict != batch[0].predict or len(batch) == GROUP or num_words > _MAX_WORDS
            ):
                others_waiting.append(request)
            else:
                batch.append(request)
                longest = max(longest, request.num_words)
        self._waiting = others_waiting
        return batch

    async def _answer(self, batch: list[_Waiting]) -> None:
        predict, inputs = batch[0].predict, [request.input for request in batch]
        self._batch = batch
        try:
            answers = await asyncio.get_running_loop().run_in_executor(
                self._thread, lambda: list(stream(predict, inputs))
            )
        finally:
            self._batch = []
        for request, answer in zip(batch, answers, strict=True):
            _set_answer(request.answer, answer)


def _set_answer(future: asyncio.Future, answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def count_words(value: Any) -> int:
    """
    Returns the number of words and punctuation marks in all strings of a JSON value. A regular
    expression counts, because a tokenizer would take long for a text that is too long.
    """
    if isinstance(value, str):
        return sum(1 for _ in _WORD.finditer(value))
    children = value.values() if isinstance(value, dict) else value
    return sum(map(count_words, children)) if isinstance(value, dict | list) else 0

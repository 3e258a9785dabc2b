from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from elmo_tasks.serve.batcher import Batcher
from elmo_tasks.serve.word_count import count_words

Answer = Callable[[list[Any]], Awaitable[list[Any]]]


class Lanes:
    """
    Two threads that compute for all models, because all models share the cores: one thread for
    short requests and one for long requests. So no short request waits for a long request, and at
    most two batches are in memory at a time.
    """

    def __init__(self) -> None:
        self._short = ThreadPoolExecutor(1, "short")
        self._long = ThreadPoolExecutor(1, "long")

    def answering(
        self, predict: Callable[[list[Any]], list[Any]], max_short: int, **settings: int
    ) -> Answer:
        """
        Returns a function that answers the inputs of a request.

        # Parameters

        predict: Returns an answer for each input. Both threads call it.
        max_short: The most words of a short request.
        **settings: Limits of a `Batcher`.
        """
        short = Batcher(predict, self._short, **settings)
        long = Batcher(predict, self._long, **settings)

        def answer(inputs: list[Any]) -> Awaitable[list[Any]]:
            return (short if count_words(inputs) <= max_short else long).answer(inputs)

        return answer

import asyncio
import time
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from elmo_tasks.common.text import parse_json
from elmo_tasks.serve.worker import Predict, Worker, count_words

# The message of an error may quote the input, and is cut to this many characters.
_MAX_MESSAGE = 2000

# Nobody reads this. nginx logs 499 for a client that has gone.
_GONE = Response(status_code=499)


class Limits(NamedTuple):
    """The most bytes and words of a request, and the most requests that wait for an answer."""

    max_bytes: int = 256 * 1024
    max_words: int = 5000
    max_requests: int = 256


class Answering:
    """
    Answers requests by one `Worker`, within the limits of the server. The header `Server-Timing` of
    an answer has its milliseconds.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._worker = Worker(limits.max_requests)

    async def __call__(self, request: Request, predict: Predict) -> Response:
        """Returns the response to a request with one input in JSON, or with a list of inputs."""
        try:
            return await self._answered(request, predict)
        except ClientDisconnect:
            return _GONE

    async def _answered(self, request: Request, predict: Predict) -> Response:
        inputs = self._inputs(await self._body(request))
        several = inputs if isinstance(inputs, list) else [inputs]
        start = time.perf_counter()
        try:
            answers = await self._worker.answer(predict, several, request.is_disconnected)
            response: Response = JSONResponse(answers if several is inputs else answers[0])
        except ValueError as error:
            raise HTTPException(422, str(error)[:_MAX_MESSAGE]) from error
        except asyncio.QueueFull as error:
            reason = "the server has too many requests to answer already; try again"
            raise HTTPException(503, reason, {"retry-after": "1"}) from error
        milliseconds = 1000 * (time.perf_counter() - start)
        response.headers["server-timing"] = f"answer;dur={milliseconds:.1f}"
        return response

    def _inputs(self, body: bytes) -> Any:
        """Returns the JSON of a body, which may have at most `max_words` words."""
        try:
            inputs = parse_json(body)
        except ValueError as error:
            raise HTTPException(400, f"the body is not JSON in UTF-8: {error}") from error
        # Each input takes time, even one that has no word or is refused.
        num_words = max(count_words(inputs), len(inputs) if isinstance(inputs, list) else 1)
        most = self._limits.max_words
        if num_words > most:
            raise HTTPException(
                413,
                f"the request has {num_words:,} words and punctuation marks; {most:,} are "
                "allowed, and each input counts as one or more",
            )
        return inputs

    async def _body(self, request: Request) -> bytes:
        most = self._limits.max_bytes
        body, size = b"", 0
        # Many clients read no answer before they have sent their whole body.
        async for part in request.stream():
            size += len(part)
            if size <= most:
                body += part
        if size > most:
            reason = f"the body has more than {most:,} bytes, the most it may have"
            raise HTTPException(413, reason, {"connection": "close"})
        return body

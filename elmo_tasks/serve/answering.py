import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from elmo_tasks.common.text import parse_data
from elmo_tasks.serve.worker import Predict, Stopped, Worker, count_words

logger = logging.getLogger(__name__)

# The message of an error may quote the input, and is cut to this many characters.
_MAX_MESSAGE = 2000


class Limits(NamedTuple):
    """
    The limits of the server: the most bytes and words of a request, and the most waiting requests.
    """

    max_bytes: int = 256 * 1024
    max_words: int = 5000
    max_requests: int = 256


class Answering:
    """Answers requests with one `Worker`, within the limits of the server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.worker = Worker(limits.max_requests)

    async def __call__(
        self, request: Request, predict: Predict, most_read: int | None = None
    ) -> Response:
        """
        Returns the response to a request with one input in JSON, or with a list of inputs. In the
        list of answers, an input that cannot be answered has an error. For a model that reads at
        most `most_read` words of an input, only these words count for the limits.
        """
        inputs = self._inputs(await self._body(request), most_read)
        several = inputs if isinstance(inputs, list) else [inputs]
        try:
            answers = await _while_connected(request, self.worker.answer(predict, several))
            if several is inputs:
                return JSONResponse(list(map(_answer_or_reason, answers)))
            (answer,) = answers
            if isinstance(answer, Exception):
                raise answer
            return JSONResponse(answer)
        except ValueError as error:
            raise HTTPException(422, reason_for_client(error)) from error
        except asyncio.QueueFull as error:
            reason = "the server has too many requests to answer already; try again"
            raise HTTPException(503, reason, {"retry-after": "1"}) from error
        except Stopped as error:
            raise HTTPException(503, "the server stops", {"connection": "close"}) from error

    def _inputs(self, body: bytes, most_read: int | None) -> Any:
        """Returns the inputs in the body of a request, which may have at most `max_words` words."""
        try:
            inputs = parse_data(body)
        except ValueError as error:
            raise HTTPException(400, f"the body is not JSON in UTF-8: {error}") from error
        several = inputs if isinstance(inputs, list) else [inputs]
        counts = (count_words(item) for item in several)
        # Each input takes time, even one that has no word or is refused.
        num_words = max(
            sum(counts if most_read is None else (min(count, most_read) for count in counts)),
            len(several),
        )
        most = self._limits.max_words
        if num_words > most:
            raise HTTPException(
                413,
                f"the request has {num_words:,} words and punctuation marks (at least one for "
                f"each input); {most:,} are allowed",
            )
        return inputs

    async def _body(self, request: Request) -> bytes:
        most = self._limits.max_bytes
        body, size = b"", 0
        # Many clients do not read an answer before they have sent their whole body.
        async for part in request.stream():
            size += len(part)
            if size <= most:
                body += part
        if size > most:
            reason = f"the body has more than {most:,} bytes, the most it may have"
            raise HTTPException(413, reason, {"connection": "close"})
        return body


def _answer_or_reason(answer: Any) -> Any:
    """Returns an entry of a list of answers: the answer, or the reason why there is none."""
    if not isinstance(answer, Exception):
        return answer
    if not isinstance(answer, ValueError):
        logger.error("failed at an input", exc_info=answer)
    return {"error": reason_for_client(answer)}


def reason_for_client(error: Exception) -> str:
    """
    Returns the reason of an error in a sentence for the client. The message of a bug goes only to
    the log.
    """
    if isinstance(error, ValueError):
        return str(error)[:_MAX_MESSAGE]
    return f"the server failed at this request ({type(error).__name__}); its log says more"


async def _while_connected(request: Request, answering: Coroutine[Any, Any, Any]) -> Any:
    """
    Returns an answer. If the client disconnects first, cancels the answer and raises
    `ClientDisconnect`.
    """

    async def leave() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    answer, leaving = asyncio.create_task(answering), asyncio.create_task(leave())
    try:
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        answer.cancel()
        leaving.cancel()

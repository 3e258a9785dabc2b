import asyncio
import logging
import re
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common.util import JsonDict
from allennlp.models import Archive
from allennlp.predictors import Predictor
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from elmo_tasks.analysis.mix import mixes_of
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import parse_json
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.predictors.own_task import own_task
from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.predictors.text_predictor import Task
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.middleware import OwnPageOnly
from elmo_tasks.serve.openapi import openapi
from elmo_tasks.serve.tools import LAYERS, SENSES, WORDS, layer_cosines, senses, word_bits
from elmo_tasks.serve.worker import Predict, Stopped, Worker, count_words

logger = logging.getLogger(__name__)

# The description of a model whose predictor declares no task.
_IN_JSON = "Answers inputs in JSON."

STATIC = Path(__file__).parent / "static"

# The message of an error may quote the input, and is cut to this many characters.
_MAX_MESSAGE = 2000


class Limits(NamedTuple):
    """
    The limits of the server: the most bytes and words of a request, and the most waiting requests.
    """

    max_bytes: int = 256 * 1024
    max_words: int = 5000
    max_requests: int = 256


class ServedModel:
    """A model of the server, with its `name` in addresses such as `/predict/ner`."""

    def __init__(self, name: str, archive: Archive) -> None:
        if re.fullmatch(r"[\w./-]+", name) is None:
            raise ConfigurationError(
                f"a model cannot be named {name!r}: give it as NAME=MODEL, with a name of letters, "
                "digits and _ . / -"
            )
        self.name = name
        self.model = archive.model
        self.predictor = Predictor.from_archive(archive)
        task: Task | None = getattr(self.predictor, "task", None)
        self.task = own_task(self.predictor, name) or task or Task(name, name, _IN_JSON)

    @property
    def fields(self) -> tuple[tuple[str, ...], ...]:
        """
        The names of an input's texts, and the names of the other fields that the predictor reads.
        """
        names = ("input_names", "other_names")
        return tuple(tuple(getattr(self.predictor, name, ())) for name in names)

    def describe(self) -> JsonDict:
        """Returns the description of the model for `GET /models`."""
        return {
            "name": self.name,
            "class": type(self.model).__name__,
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
            "mixes": mixes_of(self.model),
            **describe(self.task, self.fields[0]),
        }


def make_app(
    models: Sequence[ServedModel],
    sentence_layers: SentenceLayers,
    bilm: str,
    host: str = "127.0.0.1",
    limits: Limits = Limits(),
    language_model: LanguageModel | None = None,
    language: str = "en",
) -> Starlette:
    """
    Makes the server's application: the page at `/`, the data of its tabs, and the models. A failed
    request is answered with `{"error": "a sentence"}`.

    # Parameters

    sentence_layers: The biLM of the tabs "Layers" and "Senses".
    bilm: The name of the biLM on the page.
    host: The name or address that the server listens on.
    language_model: The biLM with its softmax, for the tab "Words".
    language: spaCy's code of the language. Its rules cut text in the biLM's tabs.
    """
    tokenize = ElmoSpacyTokenizer(language).tokenize
    tools = [
        (LAYERS, partial(layer_cosines, sentence_layers, tokenize)),
        (SENSES, partial(senses, sentence_layers, tokenize)),
    ]
    if language_model is not None:
        tools.append((WORDS, partial(word_bits, language_model, tokenize)))

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "models": [model.name for model in models]})

    async def about(request: Request) -> Response:
        return JSONResponse(
            {
                "models": [model.describe() for model in models],
                "tools": [describe(task, tuple(task.examples[0])) for task, _ in tools],
                "bilm": bilm,
                "max_words": limits.max_words,
            }
        )

    answers: dict[str, Predict] = {}
    fields: dict[str, tuple[tuple[str, ...], ...]] = {}
    most_read: dict[str, int | None] = {}
    for model in models:
        answers[f"/predict/{model.name}"] = model.predictor.predict_batch_json
        if model.task.explained:
            answers[f"/saliency/{model.name}"] = _one_by_one(partial(saliency, model.predictor))
        for path in answers.keys() - fields.keys():
            most_read[path] = getattr(model.predictor, "max_tokens_read", None)
            fields[path] = model.fields
    for task, tool in tools:
        answers[f"/{task.name}"] = _one_by_one(tool)
        fields[f"/{task.name}"] = (tuple(task.examples[0]), ())
    answering = Answering(limits)

    def route(path: str, predict: Predict) -> Route:
        async def answer(request: Request) -> Response:
            return await answering(request, predict, most_read.get(path))

        return Route(path, answer, methods=["POST"])

    async def description(request: Request) -> Response:
        return JSONResponse(openapi(fields))

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/health", health),
            Route("/models", about),
            Route("/openapi.json", description),
            Mount("/static", StaticFiles(directory=STATIC)),
            *(route(*arguments) for arguments in answers.items()),
        ],
        middleware=[Middleware(OwnPageOnly, host=host)],
        exception_handlers={
            HTTPException: _http_error,
            ClientDisconnect: _client_gone,
            Exception: _server_error,
        },
    )
    app.state.worker = answering.worker
    return app


def _one_by_one(answer: Any) -> Predict:
    """Returns a function that answers a list of inputs one by one."""
    return lambda several: [answer(inputs) for inputs in several]


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _client_gone(request: Request, error: Exception) -> Response:
    # Nobody reads this response. Its status is the one that nginx logs for a client that has gone.
    return Response(status_code=499)


async def _server_error(request: Request, error: Exception) -> Response:
    # Starlette raises the error once more after this answer, so that uvicorn logs it.
    return JSONResponse({"error": _reason(error)}, 500)


def _answer_or_reason(answer: Any) -> Any:
    """Returns an entry of a list of answers: the answer, or the reason why there is none."""
    if not isinstance(answer, Exception):
        return answer
    if not isinstance(answer, ValueError):
        logger.error("failed at an input", exc_info=answer)
    return {"error": _reason(answer)}


def _reason(error: Exception) -> str:
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


def describe(task: Task, fields: tuple[str, ...]) -> JsonDict:
    """
    Returns the description of a task for `GET /models`. The inputs of the task have the given
    fields.
    """
    names = ("title", "about", "examples", "drawing", "legend", "explained")
    return {"task": task.name, "fields": fields, **{name: getattr(task, name) for name in names}}


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
            raise HTTPException(422, _reason(error)) from error
        except asyncio.QueueFull as error:
            reason = "the server has too many requests to answer already; try again"
            raise HTTPException(503, reason, {"retry-after": "1"}) from error
        except Stopped as error:
            raise HTTPException(503, "the server stops", {"connection": "close"}) from error

    def _inputs(self, body: bytes, most_read: int | None) -> Any:
        """Returns the inputs in the body of a request, which may have at most `max_words` words."""
        try:
            inputs = parse_json(body)
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

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import fastapi_offline
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException

from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.spelling import nearest_or_all
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.scoring.language_model import LanguageModel
from elmo_tasks.serve.gate import App, Gate, Limits
from elmo_tasks.serve.giving_up import can_give_up
from elmo_tasks.serve.lanes import Lanes
from elmo_tasks.serve.layer_cosines import layer_cosines
from elmo_tasks.serve.senses import senses
from elmo_tasks.serve.served_model import ServedModel
from elmo_tasks.serve.tasks import MAX_SHORT, TOOLS, WORDS, Task
from elmo_tasks.serve.word_bits import word_bits
from elmo_tasks.serve.word_count import count_words

T = TypeVar("T")

STATIC = Path(__file__).parent / "static"

# Detailed answers have attention matrices, which grow with the square of the text's length.
_MAX_DETAILED_WORDS = 1000

# The message of an error may quote the input, and is cut to this many characters.
_MAX_MESSAGE = 2000


def make_app(
    models: Sequence[ServedModel],
    sentence_layers: SentenceLayers,
    bilm: str,
    host: str = "127.0.0.1",
    limits: Limits = Limits(),
    reports: Sequence[dict[str, Any]] = (),
    language_model: LanguageModel | None = None,
    language: str = "en",
) -> App:
    """
    Makes the server's application: the page at `/`, its tabs' data, and the models.

    # Parameters

    models: Models with different names.
    sentence_layers: The biLM of the tabs "Layers" and "Senses".
    bilm: The name of the biLM on the page.
    host (default `'127.0.0.1'`): The name or address that the server listens on.
    reports: Error reports for the tab "Errors".
    language_model: The biLM with its softmax, for the tab "Words".
    language (default `'en'`): spaCy's code of the language of raw text in the biLM's tabs.

    # Returns

    An ASGI application.
    """
    lanes = Lanes()
    functions = (
        functools.partial(tool, sentence_layers, language=language)
        for tool in (layer_cosines, senses)
    )
    tools: list[tuple[Task, Callable[[Any], Any]]] = list(zip(TOOLS, functions, strict=True))
    if language_model is not None:
        tools.append((WORDS, functools.partial(word_bits, language_model, language=language)))
    app = FastAPI(
        title="elmo-serve", docs_url=None, redoc_url=None, description=_DESCRIPTION, version="1"
    )
    _add_errors(app)
    _add_pages(app)

    @app.get("/health", summary="Whether the server answers, and the names of its models")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "models": [model.name for model in models]}

    @app.get("/models", summary="The models, their tasks and examples, and their mixes")
    async def describe() -> dict[str, Any]:
        return {
            "models": [model.describe() for model in models],
            "tools": [task.describe() for task, _ in tools],
            "bilm": bilm,
            "max_words": limits.max_words,
        }

    @app.get("/reports", summary="The error reports of the models on the data of --data")
    async def errors() -> list[dict[str, Any]]:
        return list(reports)

    for model in models:
        _add_model(app, model, lanes, limits)

    @app.post("/predict/{name:path}", include_in_schema=False)
    async def unknown(name: str) -> None:
        names = [model.name for model in models]
        reason = f"the server has no model named {name[:200]!r}{nearest_or_all(name, names)}"
        raise HTTPException(404, reason)

    for task, tool in tools:
        _add_tool(app, task, tool, lanes, limits)
    can_give_up(sentence_layers.bilm)
    if language_model is not None:
        can_give_up(language_model.bilm)
    return Gate(app, host, limits)


_DESCRIPTION = """
Answers of models, as `elmo-tasks predict` gives them. Errors are `{"error": "a sentence"}`.
"""


def _add_model(app: FastAPI, model: ServedModel, lanes: Lanes, limits: Limits) -> None:
    max_short = MAX_SHORT if model.task is None else model.task.max_short
    answer = lanes.answering(model.predictor.predict_batch_json, max_short)
    answer_detailed = lanes.answering(model.detailed.predict_batch_json, max_short)
    can_give_up(model.model)
    examples = [] if model.task is None else model.task.examples

    @app.post(
        f"/predict/{model.name}",
        name=model.name,
        summary=f"The answer of {model.name} to an input, or the answers to a list of them",
        openapi_extra=_body_schema(examples),
        # Without this, the schema would have FastAPI's own form of this error.
        responses={422: {"description": "The input or the query is refused"}},
    )
    async def predict(request: Request, details: bool = False) -> Response:
        max_words = min(limits.max_words, _MAX_DETAILED_WORDS) if details else limits.max_words
        inputs = await _inputs(request, max_words)
        several = inputs if isinstance(inputs, list) else [inputs]
        if any(isinstance(each, dict) and "data" in each for each in several):
            reason = (
                "a whole file is answered by `elmo-tasks predict`; give its questions in a list"
            )
            raise HTTPException(422, reason)
        answering = (answer_detailed if details else answer)(several)
        if several is inputs:
            return await _timed(request, answering)
        return await _timed(request, _first(answering))


def _add_tool(
    app: FastAPI,
    task: Task,
    tool: Callable[[Any], Any],
    lanes: Lanes,
    limits: Limits,
) -> None:
    def use_all(several: list[Any]) -> list[Any]:
        return [tool(inputs) for inputs in several]

    answer = lanes.answering(use_all, task.max_short, max_inputs=1)

    @app.post(f"/{task.name}", name=task.name, openapi_extra=_body_schema(task.examples))
    async def use(request: Request) -> Response:
        inputs = await _inputs(request, limits.max_words)
        return await _timed(request, _first(answer([inputs])))


async def _first(answers: Awaitable[list[T]]) -> T:
    return (await answers)[0]


async def _inputs(request: Request, max_words: int) -> Any:
    """Returns the JSON of the body. The JSON may have at most `max_words` words."""
    try:
        inputs = parse_json(await request.body())
    except ValueError as error:
        raise HTTPException(400, f"the body is not JSON in UTF-8: {error}") from error
    num_words = count_words(inputs)
    if num_words > max_words:
        raise HTTPException(
            413,
            f"the request has {num_words:,} words and punctuation marks; {max_words:,} are allowed",
        )
    return inputs


async def _timed(request: Request, answering: Awaitable[Any]) -> Response:
    """
    Returns the response with an answer, unless the client goes away first. The header
    `Server-Timing` has the milliseconds that the answer took.
    """
    start = time.perf_counter()
    answer, gone = asyncio.ensure_future(answering), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            # Nobody reads this answer. nginx logs 499 for a client that has gone.
            return Response(status_code=499)
        response = JSONResponse(answer.result())
    except ValueError as error:
        raise HTTPException(422, str(error)[:_MAX_MESSAGE]) from error
    finally:
        answer.cancel()
        gone.cancel()
    milliseconds = 1000 * (time.perf_counter() - start)
    response.headers["server-timing"] = f"answer;dur={milliseconds:.1f}"
    return response


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _add_pages(app: FastAPI) -> None:
    swagger = Path(fastapi_offline.__file__).parent / "static"

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(STATIC / "docs.html")

    app.mount("/static", StaticFiles(directory=STATIC))
    app.mount("/swagger", StaticFiles(directory=swagger))


def _add_errors(app: FastAPI) -> None:
    """Gives the answer to every error the form `{"error": "a sentence"}`."""

    @app.exception_handler(StarletteHTTPException)
    async def refused(request: Request, error: StarletteHTTPException) -> Response:
        reason = error.detail
        if error.status_code == 405:
            reason = f"{request.url.path} does not take {request.method}"
        elif reason == "Not Found":
            reason = f"there is nothing at {request.url.path[:200]}; /docs lists what there is"
        return JSONResponse({"error": reason}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        # FastAPI checks nothing but the query.
        first = error.errors()[0]
        reason = f"{first['loc'][-1]} in the query is {first['input']!r:.200}: {first['msg']}"
        return JSONResponse({"error": reason}, 422)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        # Starlette raises the error once more after this answer, so that uvicorn logs it.
        reason = f"the server failed at this request ({type(error).__name__}); its log says more"
        return JSONResponse({"error": reason}, 500)


def _body_schema(examples: list[dict[str, Any]]) -> dict[str, Any]:
    """
    Returns the OpenAPI schema of a request's body. FastAPI cannot derive it, since `parse_json`
    reads the body.
    """
    media: dict[str, Any] = {"schema": {}}
    if examples:
        properties = {name: {"type": "string"} for name in examples[0]}
        media = {"schema": {"type": "object", "properties": properties}, "example": examples[0]}
    return {"requestBody": {"required": True, "content": {"application/json": media}}}

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastapi_offline
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException

from elmo_tasks.common.spelling import nearest_or_all
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.answering import Answering, Limits
from elmo_tasks.serve.middleware import OwnPageOnly
from elmo_tasks.serve.senses import SENSES, senses
from elmo_tasks.serve.served_model import ServedModel, describe
from elmo_tasks.serve.tools import LAYERS, WORDS, Tool, layer_cosines, word_bits

STATIC = Path(__file__).parent / "static"

# Detailed answers have attention matrices, which grow with the square of the text's length.
_MAX_DETAILED_WORDS = 1000

_DESCRIPTION = """
Answers of models, as `elmo-tasks predict` gives them. Errors are `{"error": "a sentence"}`.
"""


def make_app(
    models: Sequence[ServedModel],
    sentence_layers: SentenceLayers,
    bilm: str,
    host: str = "127.0.0.1",
    limits: Limits = Limits(),
    reports: Sequence[dict[str, Any]] = (),
    language_model: LanguageModel | None = None,
    language: str = "en",
) -> FastAPI:
    """
    Makes the server's application: the page at `/`, its tabs' data, and the models.

    # Parameters

    sentence_layers: The biLM of the tabs "Layers" and "Senses".
    bilm: The name of the biLM on the page.
    host (default `'127.0.0.1'`): The name or address that the server listens on.
    reports: Error reports for the tab "Errors".
    language_model: The biLM with its softmax, for the tab "Words".
    language (default `'en'`): spaCy's code of the language of raw text in the biLM's tabs.
    """
    app = FastAPI(title="elmo-tasks serve", docs_url=None, redoc_url=None, description=_DESCRIPTION)
    app.add_middleware(OwnPageOnly, host=host)
    _add_errors(app)
    _add_pages(app)
    answering = Answering(limits)
    partial, tokenize = functools.partial, ElmoSpacyTokenizer(language).tokenize
    tools = [
        Tool(LAYERS, partial(layer_cosines, sentence_layers, tokenize)),
        Tool(SENSES, partial(senses, sentence_layers, tokenize)),
    ]
    if language_model is not None:
        tools.append(Tool(WORDS, partial(word_bits, language_model, tokenize)))

    @app.get("/health", summary="Whether the server answers, and the names of its models")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "models": [model.name for model in models]}

    @app.get("/models", summary="The models, their tasks and examples, and their mixes")
    async def about() -> dict[str, Any]:
        return {
            "models": [model.describe() for model in models],
            "tools": [describe(tool.task, tuple(tool.task.examples[0])) for tool in tools],
            "bilm": bilm,
            "max_words": limits.max_words,
        }

    @app.get("/reports", summary="The error reports of the models on the data of --data")
    async def errors() -> list[dict[str, Any]]:
        return list(reports)

    for model in models:
        _add_model(app, model, answering)

    @app.post("/predict/{name:path}", include_in_schema=False)
    async def unknown(name: str) -> None:
        names = [model.name for model in models]
        reason = f"the server has no model named {name[:200]!r}{nearest_or_all(name, names)}"
        raise HTTPException(404, reason)

    for tool in tools:
        _add_tool(app, f"/{tool.task.name}", tool, answering)
    return app


def _add_model(app: FastAPI, model: ServedModel, answering: Answering) -> None:
    task = model.task
    summary = f"The answer of {model.name} to an input, or the answers to a list of them"

    @_post(app, f"/predict/{model.name}", summary, task.examples)
    async def predict(request: Request, details: bool = False) -> Response:
        predictor = model.detailed if details else model.predictor
        max_words = _MAX_DETAILED_WORDS if details else None
        return await answering(request, predictor.predict_batch_json, max_words)

    if task.explained:
        task = task._replace(about=f"How much each word matters for the answer of {model.name}")
        tool = Tool(task, functools.partial(saliency, model.predictor))
        _add_tool(app, f"/saliency/{model.name}", tool, answering, _MAX_DETAILED_WORDS)


def _add_tool(
    app: FastAPI, path: str, tool: Tool, answering: Answering, max_words: int | None = None
) -> None:
    def answer_each(several: list[Any]) -> list[Any]:
        return [tool.answer(inputs) for inputs in several]

    @_post(app, path, tool.task.about, tool.task.examples)
    async def use(request: Request) -> Response:
        return await answering(request, answer_each, max_words)


def _post(app: FastAPI, path: str, summary: str, examples: Sequence[dict[str, Any]]) -> Any:
    """Adds an address that takes JSON, which FastAPI cannot describe, since we read it."""
    media: dict[str, Any] = {"schema": {}}
    if examples:
        properties = {name: {"type": "string"} for name in examples[0]}
        media = {"schema": {"type": "object", "properties": properties}, "example": examples[0]}
    return app.post(
        path,
        name=path,
        summary=summary,
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": media}}},
        # Without this, the schema would have FastAPI's own form of this error.
        responses={422: {"description": "The input or the query is refused"}},
    )


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

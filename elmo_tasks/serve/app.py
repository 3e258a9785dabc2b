from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.answering import Answering, Limits
from elmo_tasks.serve.middleware import OwnPageOnly
from elmo_tasks.serve.senses import SENSES, senses
from elmo_tasks.serve.served_model import ServedModel, describe
from elmo_tasks.serve.tools import LAYERS, WORDS, Tool, layer_cosines, word_bits
from elmo_tasks.serve.worker import Predict

STATIC = Path(__file__).parent / "static"


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
    Makes the server's application: the page at `/`, its tabs' data, and the models. An error is
    `{"error": "a sentence"}`.

    # Parameters

    sentence_layers: The biLM of the tabs "Layers" and "Senses".
    bilm: The name of the biLM on the page.
    host (default `'127.0.0.1'`): The name or address that the server listens on.
    language_model: The biLM with its softmax, for the tab "Words".
    language (default `'en'`): spaCy's code of the language of raw text in the biLM's tabs.
    """
    tokenize = ElmoSpacyTokenizer(language).tokenize
    tools = [
        Tool(LAYERS, partial(layer_cosines, sentence_layers, tokenize)),
        Tool(SENSES, partial(senses, sentence_layers, tokenize)),
    ]
    if language_model is not None:
        tools.append(Tool(WORDS, partial(word_bits, language_model, tokenize)))

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "models": [model.name for model in models]})

    async def about(request: Request) -> Response:
        return JSONResponse(
            {
                "models": [model.describe() for model in models],
                "tools": [describe(tool.task, tuple(tool.task.examples[0])) for tool in tools],
                "bilm": bilm,
                "max_words": limits.max_words,
            }
        )

    answers: dict[str, Predict] = {}
    for model in models:
        answers[f"/predict/{model.name}"] = model.predictor.predict_batch_json
        if model.task.explained:
            answers[f"/saliency/{model.name}"] = _each(partial(saliency, model.predictor))
    for tool in tools:
        answers[f"/{tool.task.name}"] = _each(tool.answer)
    answering = Answering(limits)

    def route(path: str, predict: Predict) -> Route:
        async def answer(request: Request) -> Response:
            return await answering(request, predict)

        return Route(path, answer, methods=["POST"])

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path, reason = request.url.path, error.detail
        if error.status_code == 405:
            reason = f"{path} does not take {request.method}"
        elif error.status_code == 404:
            reason = f"there is nothing at {path[:200]}{nearest_or_all(path[:200], list(answers))}"
        return JSONResponse({"error": reason}, error.status_code, error.headers)

    return Starlette(
        routes=[
            Route("/", page),
            Route("/health", health),
            Route("/models", about),
            Mount("/static", StaticFiles(directory=STATIC)),
            *(route(*each) for each in answers.items()),
        ],
        middleware=[Middleware(OwnPageOnly, host=host)],
        exception_handlers={HTTPException: refused, Exception: _failed},
    )


def _each(answer: Any) -> Predict:
    """Returns a function that answers a list of inputs one by one."""
    return lambda several: [answer(inputs) for inputs in several]


async def _failed(request: Request, error: Exception) -> Response:
    # Starlette raises the error once more after this answer, so that uvicorn logs it.
    reason = f"the server failed at this request ({type(error).__name__}); its log says more"
    return JSONResponse({"error": reason}, 500)

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

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
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.predictors.own_task import own_task
from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.predictors.text_predictor import Task
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.answering import Answering, Limits, reason_for_client
from elmo_tasks.serve.middleware import OwnPageOnly
from elmo_tasks.serve.openapi import openapi
from elmo_tasks.serve.tools import LAYERS, SENSES, WORDS, layer_cosines, senses, word_bits
from elmo_tasks.serve.worker import Predict

# The description of a model whose predictor declares no task.
_IN_JSON = "Answers inputs in JSON."

STATIC = Path(__file__).parent / "static"


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
    return JSONResponse({"error": reason_for_client(error)}, 500)


def describe(task: Task, fields: tuple[str, ...]) -> JsonDict:
    """
    Returns the description of a task for `GET /models`. The inputs of the task have the given
    fields.
    """
    names = ("title", "about", "examples", "drawing", "legend", "explained")
    return {"task": task.name, "fields": fields, **{name: getattr(task, name) for name in names}}

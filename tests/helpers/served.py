"""A real server of small, untrained models, on a free port of this machine."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from allennlp.models import load_archive
from starlette.applications import Starlette

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.serve.answering import Limits
from elmo_tasks.serve.app import ServedModel, make_app
from elmo_tasks.serve.server import address_of, listen, make_server
from tests.helpers.archives import make_archive
from tests.helpers.configs import tiny

# The tasks of the models, which are also their names.
NAMES = ("sst", "ner", "snli", "squad", "srl", "coref")


def task_models(folder: Path) -> list[ServedModel]:
    """Makes a model of each task, with ELMo at both places."""
    models = []
    for task in NAMES:
        (folder / task).mkdir()
        archive = load_archive(str(make_archive(folder / task, tiny(task, "both"))))
        models.append(ServedModel(task, archive))
    return models


def app_of(models: list[ServedModel], limits: Limits = Limits(), **settings) -> Starlette:
    return make_app(
        models, ElmoEncoder.from_pretrained("mini").layers, "mini", limits=limits, **settings
    )


@contextmanager
def run_server(app: Starlette, limits: Limits = Limits()) -> Iterator[str]:
    """Yields the address of a running server, without the slash at its end."""
    with listen("127.0.0.1", 0) as listening:
        server = make_server(app, limits)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield address_of(listening).rstrip("/")
        finally:
            server.should_exit = True
            thread.join()

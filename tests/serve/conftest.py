from collections.abc import Iterator

import pytest

from elmo_tasks.serve.app import ServedModel
from tests.helpers.language_models import random_model
from tests.helpers.served import app_of, run_server, task_models


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[ServedModel]:
    return task_models(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def address(models: list[ServedModel]) -> Iterator[str]:
    """The address of a running server of all models."""
    with run_server(app_of(models, language_model=random_model())) as url:
        yield url

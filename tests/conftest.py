import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import torch

import elmo_tasks.plugin  # noqa: F401  registers every name

# There are as many processes that run tests as there are cores. Commands keep this number.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Every run has the same examples. No example has a time limit, because machines differ in speed.
hypothesis.settings.register_profile("elmo_tasks", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.load_profile("elmo_tasks")


@pytest.fixture(scope="session", autouse=True)
def in_root() -> Iterator[None]:
    """Runs the tests in the project's folder, from which configs name their files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[1])
        yield

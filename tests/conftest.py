from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import torch

import elmo_tasks.plugin  # noqa: F401  registers every name

# The tests run in as many processes as there are cores.
torch.set_num_threads(1)

# The same examples in every run, and no limit on the time of one: CI machines differ in speed.
hypothesis.settings.register_profile("elmo_tasks", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.load_profile("elmo_tasks")


@pytest.fixture(scope="session", autouse=True)
def in_root() -> Iterator[None]:
    """Configs name their files from the project's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[1])
        yield

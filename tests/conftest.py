import atexit
import functools
import gc
import importlib
import logging
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# What AllenNLP logs of each training, and no test reads. Each line is formatted twice, which took a
# sixth of the time of a small training.
UNREAD = (
    "allennlp.common.params",
    "allennlp.common.util",
    "allennlp.nn.initializers",
    "allennlp.training.callbacks.console_logger",
)


def pytest_configure(config: pytest.Config) -> None:
    """Prepares a process that runs tests; the one that hands them to others imports nothing."""
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        return
    # What is imported and collected stays until the end. It is looked through neither now nor by
    # each collection of garbage in a test, which takes a second, nor in a fork, which copies it.
    gc.disable()
    import hypothesis
    import torch

    from tests.helpers.fast_jsonnet import evaluate_fast

    # AllenNLP takes the functions of jsonnet when it is imported.
    evaluate_fast()
    import elmo_tasks.plugin  # noqa: F401  registers every name

    # A client of a server in a test reads all certificates of the machine, which none needs.
    transport = importlib.import_module("httpx._transports.default")
    setattr(transport, "create_ssl_context", functools.cache(transport.create_ssl_context))  # noqa: B010

    for name in UNREAD:
        logging.getLogger(name).disabled = True
    # There are as many processes that run tests as there are cores. Commands keep this number.
    torch.set_num_threads(1)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Every run has the same examples. No example has a time limit, because machines differ.
    settings = hypothesis.settings
    settings.register_profile("elmo_tasks", deadline=None, derandomize=True, max_examples=25)
    settings.load_profile("elmo_tasks")


def pytest_collection_finish() -> None:
    gc.freeze()
    atexit.register(gc.unfreeze)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def in_root() -> Iterator[None]:
    """Runs the tests in the project's folder, from which configs name their files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[1])
        # No test takes the power away, and a file that is not on the disk survives a kill.
        patch.setattr(os, "fsync", lambda descriptor: None)
        # Archives are packed fast rather than small: mode, file object and level of compression.
        gzopen: Any = tarfile.TarFile.gzopen
        patch.setattr(gzopen.__func__, "__defaults__", ("r", None, 1))
        yield

"""
Hides the messages of AllenNLP that a user of `elmo-tasks` does not need. They are hidden only on
the console: the log files of a training run have all messages.
"""

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from elmo_tasks.common.replaced import replaced
from elmo_tasks.common.text import printable


def make_quiet() -> None:
    """
    Hides most messages and deprecation warnings on the console, unless the user has chosen a level
    with ALLENNLP_LOG_LEVEL, ALLENNLP_DEBUG or Python's option -W.
    """
    # This import sets up AllenNLP's logging, as `python -m allennlp` does.
    import allennlp.__main__  # noqa: F401

    if "ALLENNLP_LOG_LEVEL" in os.environ or "ALLENNLP_DEBUG" in os.environ:
        return
    for handler in logging.getLogger().handlers:
        is_console = isinstance(handler, logging.StreamHandler)
        if is_console and not isinstance(handler, logging.FileHandler):
            handler.addFilter(_is_shown)
            handler.setFormatter(_Brief())
    if not sys.warnoptions:
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=category)
        warnings.filterwarnings("default", module=r"elmo_tasks\.")
        warnings.filterwarnings("ignore", category=ResourceWarning)


@contextmanager
def kept_quiet() -> Iterator[None]:
    """
    Keeps the console quiet while the block runs, even when AllenNLP sets up the logs of a training
    run.
    """
    from allennlp.common import logging as allennlp_logging

    prepare = allennlp_logging.prepare_global_logging

    def prepare_quietly(*args: Any, **options: Any) -> None:
        prepare(*args, **options)
        make_quiet()

    with replaced(allennlp_logging, prepare_global_logging=prepare_quietly):
        yield


def _is_shown(record: logging.LogRecord) -> bool:
    # AllenNLP warns that it cannot split the loss of a batch by input, but nobody asked for a loss.
    if record.name == "allennlp.models.model":
        return False
    return record.levelno >= logging.WARNING or record.name.startswith("elmo_tasks.")


class _Brief(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        prefix = f"{record.levelname}: " if record.levelno >= logging.WARNING else ""
        # A name or label in a message may contain control characters.
        return "\n".join(map(printable, (prefix + super().format(record)).split("\n")))

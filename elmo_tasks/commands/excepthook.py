"""Ends AllenNLP's commands with one line, not with a traceback, if the user made a mistake."""

import functools
import logging
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from elmo_tasks.commands.mistakes import (
    INTERRUPTED,
    end_without_reader,
    is_interrupt,
    mistake,
    wants_traceback,
)
from elmo_tasks.commands.quiet import make_quiet
from elmo_tasks.common.printable import printable
from elmo_tasks.common.program import program

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def install() -> None:
    """Installs the hook in the process of `elmo-tasks`, and makes the console quiet."""
    if getattr(sys.excepthook, "func", None) is not _hook:
        _install()


def _install() -> None:
    sys.excepthook = functools.partial(_hook, sys.excepthook)
    make_quiet()


def _hook(
    previous: Hook,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
) -> None:
    command = f"{program()} {' '.join(sys.argv[1:2])}"
    status = 1
    if isinstance(error, BrokenPipeError):
        end_without_reader()
    if is_interrupt(error):
        message, status = "interrupted", INTERRUPTED
    else:
        found = mistake(error)
        if found is None:
            previous(kind, error, trace)
            return
        message = found
    if wants_traceback():
        traceback.print_exception(kind, error, trace)
    line = printable(f"{command}: {message}")
    _log(line)
    print(line, file=sys.stderr)
    sys.exit(status)


def _log(line: str) -> None:
    """Writes a line to the log files, but not to the console."""
    record = logging.LogRecord(__name__, logging.ERROR, __file__, 0, line, None, None)
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.FileHandler):
            handler.handle(record)

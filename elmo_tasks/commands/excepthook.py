"""Ends AllenNLP's commands with one line, not with a traceback, if the user made a mistake."""

import functools
import logging
import sys
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
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
from elmo_tasks.in_allennlp.how_to_go_on import how_to_go_on
from elmo_tasks.in_allennlp.logs import call_after_logging

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def install_in_command_line() -> None:
    """
    Installs the hook if one of AllenNLP's commands is importing this plugin. Does nothing in
    scripts, notebooks and tests, which import the plugin in another way.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "allennlp.commands":
        frame = frame.f_back
    if frame is None:
        return
    install()


def install() -> None:
    """
    Installs the hook and makes the console quiet. Does both again when AllenNLP sets up the log
    files of a training.
    """
    if getattr(sys.excepthook, "func", None) is _hook:
        return
    _install()
    # If the disk of a log file is full, Python must not print a traceback for each line.
    logging.raiseExceptions = False
    call_after_logging(_install)


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
        message, status = f"interrupted{how_to_go_on(sys.argv[1:])}", INTERRUPTED
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

import errno
import json
import lzma
import os
import pickle
import sys
import zlib
from typing import NoReturn

from elmo_tasks.common.errors import INSTALL_ALLENNLP, raised_here

# The environment variable that shows the traceback of every error.
DEBUG = "ELMO_TASKS_DEBUG"

# The exit status of an interrupted command, the same as a shell's after Ctrl-C.
INTERRUPTED = 130

# Packages that only some commands need, by the modules that the commands import.
_EXTRAS = {
    "_jsonnet": "jsonnet",
    "matplotlib": "matplotlib",
    "onnx": "onnx",
    "pyarrow": "pyarrow",
    "ray": "'ray[data]'",
    "sklearn": "scikit-learn",
}

# The maximum length of a message, in characters.
_LONGEST = 2000

# The errors that a truncated or damaged file causes.
_DAMAGED = (EOFError, lzma.LZMAError, pickle.UnpicklingError, zlib.error)


def end_without_reader() -> NoReturn:
    """Ends the process when the reader of its output, such as `head`, has ended."""
    # Otherwise Python would try to write the rest again when it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def mistake(error: BaseException) -> str | None:
    """
    Returns a one-line message for an error that the user can correct: a mistake in a config, a file
    or a path, or a full disk. Returns `None` for a bug, which needs its traceback.
    """
    message = _message(error)
    if message is None:
        return None
    line = " ".join(message.split())[:_LONGEST]
    for note in getattr(error, "__notes__", ()):
        line = _joined(line, " ".join(note.split()))
    return line


def _joined(message: str, goes_on: str) -> str:
    """Appends a hint, which begins with "; ". After a question, the hint becomes a sentence."""
    if not message.endswith("?"):
        return message.rstrip(".") + goes_on
    hint = goes_on.removeprefix("; ")
    return f"{message} {hint[0].upper()}{hint[1:]}"


def is_interrupt(error: BaseException) -> bool:
    """Returns whether Ctrl-C or SIGTERM ended a command. AllenNLP turns SIGTERM into an error."""
    return isinstance(error, KeyboardInterrupt) or _is_of_allennlp(
        error, "common.util", "SigTermReceived"
    )


def _is_of_allennlp(error: BaseException, module: str, name: str) -> bool:
    """Returns whether an error is of a class of AllenNLP."""
    kind = getattr(sys.modules.get(f"allennlp.{module}"), name, None)
    return kind is not None and isinstance(error, kind)


def wants_traceback() -> bool:
    return os.environ.get(DEBUG, "0") not in ("", "0")


def _message(error: BaseException) -> str | None:
    match error:
        case _ if _is_of_allennlp(error, "common.checks", "ConfigurationError"):
            return str(error)
        case json.JSONDecodeError() | UnicodeDecodeError():
            return f"the input cannot be read: {error}"
        case OSError():
            return _file_error(error)
        case ValueError() if raised_here(error):
            return str(error)
        case ModuleNotFoundError() if error.name in _EXTRAS:
            package = _EXTRAS[error.name]
            return f"this needs {package}, which is not installed: pip install {package}"
        case ImportError() if str(error) == INSTALL_ALLENNLP:
            return str(error)
        case ModuleNotFoundError() if error.name in sys.argv:
            return f"--include-package: there is no package {error.name}"
        case _ if isinstance(error, _DAMAGED):
            return f"a file is damaged: {error}"
    return None


def _file_error(error: OSError) -> str:
    """Returns the message of a file system error. If the disk is full, adds what to do."""
    message = error.strerror or str(error)
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    if error.strerror and names:
        message = f"{' and '.join(names)}: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message += "; make room"
    return message

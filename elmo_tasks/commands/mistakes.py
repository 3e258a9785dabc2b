import json
import lzma
import os
import pickle
import re
import sys
import tarfile
import zipfile
import zlib
from types import FrameType

from elmo_tasks.commands.config_mistakes import (
    hidden_field,
    jsonnet_error,
    wrong_choice,
)
from elmo_tasks.commands.file_mistakes import (
    VECTOR_ERRORS,
    file_error,
    loaded_file,
    vector_file,
    vector_file_error,
)
from elmo_tasks.commands.frames import file_of, frames_of, is_in, local
from elmo_tasks.commands.going_on import how_to_go_on, is_left_over, with_fitting_advice
from elmo_tasks.common.errors import INSTALL_ALLENNLP

# The environment variable that shows the traceback of every error.
DEBUG = "ELMO_TASKS_DEBUG"

# The exit status of a command that was interrupted, as a shell gives it for Ctrl-C.
INTERRUPTED = 130

# The packages that only some commands need, by the modules that they import.
_EXTRAS = {
    "_jsonnet": "jsonnet",
    "matplotlib": "matplotlib",
    "pyarrow": "pyarrow",
    "ray": "'ray[data]'",
    "sklearn": "scikit-learn",
}

# The most characters of a message.
_LONGEST = 2000

_ARCHIVE_ERRORS = (
    EOFError,
    lzma.LZMAError,
    pickle.UnpicklingError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)

_UNEXPECTED = re.compile(r"got an unexpected keyword argument '\w+'")

# What AllenNLP says, and what a person can do about it.
_SAID = {
    "nan loss encountered": "the loss is not a number (NaN); try a smaller learning rate",
}


def mistake(error: BaseException) -> str | None:
    """
    Returns the message of an error that the user can correct, on one line: a mistake in a config,
    a file or a path, or a full disk. Returns `None` for a bug, whose traceback is of use.
    """
    message = _message(error)
    if message is None:
        return None
    line = " ".join(message.split())[:_LONGEST]
    goes_on = " ".join(how_to_go_on(sys.argv[1:]).split())
    # Before `train_model`, the folder may be one in which another process trains.
    trained = any(frame.f_code.co_name == "train_model" for frame in frames_of(error))
    if trained and is_left_over(sys.argv[1:]) and not line.endswith(goes_on):
        line = _joined(line, goes_on)
    return line


def _joined(message: str, goes_on: str) -> str:
    """Returns one text of a message, which may end in a question, and of what follows a "; "."""
    if not message.endswith("?"):
        return message.rstrip(".") + goes_on
    hint = goes_on.removeprefix("; ")
    return f"{message} {hint[0].upper()}{hint[1:]}"


def is_interrupt(error: BaseException) -> bool:
    """Returns whether Ctrl-C or SIGTERM ended a command. AllenNLP makes an error of SIGTERM."""
    terminated = _is_of_allennlp(error, "common.util", "SigTermReceived")
    return isinstance(error, KeyboardInterrupt) or terminated


def wants_traceback() -> bool:
    return os.environ.get(DEBUG, "0") not in ("", "0")


def _message(error: BaseException) -> str | None:
    frames = frames_of(error)
    last = frames[-1] if frames else None
    match error:
        case _ if _is_of_allennlp(error, "common.checks", "ConfigurationError"):
            text = with_fitting_advice(str(error), sys.argv[1:])
            return wrong_choice(error) or f"{text}{hidden_field(error)}{_reason(error)}"
        case TypeError() if _UNEXPECTED.search(str(error)) and _makes_objects(frames):
            return f"the config has a parameter that nothing takes: {error}"
        case ValueError() if str(error) in _SAID:
            return _SAID[str(error)]
        case _ if isinstance(error, VECTOR_ERRORS) and (path := vector_file(frames)):
            return vector_file_error(error, path)
        case json.JSONDecodeError() | UnicodeDecodeError():
            return f"the input cannot be read: {error}"
        case OSError():
            return file_error(error, frames)
        case RuntimeError() | pickle.UnpicklingError() if path := loaded_file(error, frames):
            return f"{path} is damaged, or no file of weights"
        case _ if isinstance(error, _ARCHIVE_ERRORS):
            archive = local(frames, "archive_file") or local(frames, "path") or "a file"
            return f"{archive} is damaged or no archive of a model ({error})"
        case ValueError() if is_in(last, "elmo_tasks"):
            return str(error)
        case RuntimeError() if last and last.f_code.co_filename.endswith("common/params.py"):
            return jsonnet_error(error, frames)
        case RuntimeError() if str(error).startswith("Error(s) in loading state_dict"):
            return str(error)
        case TypeError() if last and last.f_code.co_name == "print_results_from_args":
            return "name the metrics to print, such as --keys best_validation_accuracy"
        case TypeError() if last and last.f_code.co_filename.endswith("common/from_params.py"):
            return f"the config has a value of another type than expected: {error}"
        case ModuleNotFoundError() if error.name in _EXTRAS:
            package = _EXTRAS[error.name]
            return f"this needs {package}, which is not installed: pip install {package}"
        case ImportError() if str(error) == INSTALL_ALLENNLP:
            return str(error)
        case ModuleNotFoundError() if error.name in sys.argv:
            return f"--include-package: there is no package {error.name}"
        case _ if re.match(r"worker raised (Value|Configuration)Error\(", str(error)):
            return str(error).partition("\n")[0]
    return None


def _makes_objects(frames: list[FrameType]) -> bool:
    """Returns whether an object was being made from its part of a config."""
    return any(file_of(frame) == "from_params.py" for frame in frames)


def _is_of_allennlp(error: BaseException, module: str, name: str) -> bool:
    """Returns whether an error is of a class of AllenNLP, which is not imported for this."""
    kind = getattr(sys.modules.get(f"allennlp.{module}"), name, None)
    return kind is not None and isinstance(error, kind)


def _reason(error: BaseException) -> str:
    """Returns the message of the error that caused this one."""
    return "" if error.__cause__ is None else f" ({error.__cause__})"

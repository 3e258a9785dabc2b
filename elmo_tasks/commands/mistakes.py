import contextlib
import errno
import gzip
import inspect
import json
import lzma
import os
import pickle
import re
import sys
import tarfile
import traceback
import zipfile
import zlib
from collections.abc import Iterator
from types import FrameType
from typing import Any

from elmo_tasks.commands.going_on import (
    has_checkpoint,
    how_to_go_on,
    is_left_over,
    with_fitting_advice,
)
from elmo_tasks.common.errors import INSTALL_ALLENNLP
from elmo_tasks.common.nearest import did_you_mean
from elmo_tasks.common.shipped import config_path

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

# What AllenNLP raises for a file of word vectors that is missing, empty or damaged.
_VECTOR_ERRORS = (
    EOFError,
    FileNotFoundError,
    StopIteration,
    UnicodeDecodeError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
)

# The word vectors that scripts/fetch_data.py can make.
_GLOVE = re.compile(r"glove\.(6B(?=\.100d\.120k\.txt\.gz$)|840B(?=\.300d\.txt$))")

# The names under which AllenNLP keeps the path of a file that it writes.
_PATHS = ("archive_file", "file_path", "filename", "path", "serialization_dir")

_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
_NO_CHOICE = re.compile(r"(\S+) not in acceptable choices for \S+: (\[.*?\])")
# The messages of the assertions in training_configs/lib.
_NOT_ONE_OF = re.compile(r"must be (?:one of )?(.*?)(?:, or an object with .*?)?, not (\S+)")


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
    trained = any(frame.f_code.co_name == "train_model" for frame in _frames(error))
    if trained and is_left_over(sys.argv[1:]) and not line.endswith(goes_on):
        line = line.rstrip(".") + goes_on
    return line


def is_interrupt(error: BaseException) -> bool:
    """Returns whether Ctrl-C or SIGTERM ended a command. AllenNLP makes an error of SIGTERM."""
    terminated = _is_of_allennlp(error, "common.util", "SigTermReceived")
    return isinstance(error, KeyboardInterrupt) or terminated


def wants_traceback() -> bool:
    return os.environ.get(DEBUG, "0") not in ("", "0")


def _message(error: BaseException) -> str | None:
    frames = list(_frames(error))
    last = frames[-1] if frames else None
    match error:
        case _ if _is_of_allennlp(error, "common.checks", "ConfigurationError"):
            text = with_fitting_advice(str(error), sys.argv[1:])
            return f"{text}{_nearest_choice(error)}{_nearest_parameter(frames)}{_reason(error)}"
        case TypeError() if unknown := _UNEXPECTED.search(str(error)):
            return _unexpected_parameter(unknown[1], frames)
        case _ if isinstance(error, _VECTOR_ERRORS) and (path := _vector_file(frames)):
            return _vector_file_error(error, path)
        case json.JSONDecodeError() | UnicodeDecodeError():
            return f"the input cannot be read: {error}"
        case OSError():
            return _file_error(error, frames)
        case RuntimeError() | pickle.UnpicklingError() if path := _loaded_file(error, frames):
            return f"{path} is damaged, or no file of weights"
        case _ if isinstance(error, _ARCHIVE_ERRORS):
            archive = _local(frames, "archive_file") or _local(frames, "path") or "a file"
            return f"{archive} is damaged or no archive of a model ({error})"
        case ValueError() if _is_in(last, "elmo_tasks"):
            return str(error)
        case RuntimeError() if last and last.f_code.co_filename.endswith("common/params.py"):
            return _jsonnet_error(error, frames)
        case RuntimeError() if str(error).startswith("Error(s) in loading state_dict"):
            return str(error)
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


def _is_of_allennlp(error: BaseException, module: str, name: str) -> bool:
    """Returns whether an error is of a class of AllenNLP, which is not imported for this."""
    kind = getattr(sys.modules.get(f"allennlp.{module}"), name, None)
    return kind is not None and isinstance(error, kind)


def _file_error(error: OSError, frames: list[FrameType]) -> str:
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    # A write to an open file does not name it.
    names = names or [name for key in _PATHS if (name := _local(frames[::-1], key))][:1]
    message = error.strerror or str(error)
    if error.strerror and names:
        message = f"{' and '.join(names)}: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message, kept = f"{message}; make room", "what was complete is kept"
    elif any(frame.f_code.co_name == "_try_train" for frame in frames):
        kept = "the checkpoints are kept"
    else:
        return message
    arguments = sys.argv[1:]
    if arguments[:1] != ["train"] or has_checkpoint(arguments):
        message += f"; {kept}"
    return message + how_to_go_on(arguments)


def _vector_file(frames: list[FrameType]) -> str | None:
    """Returns the file of word vectors that AllenNLP was reading."""
    for frame in frames:
        path = getattr(frame.f_locals.get("self"), "uri", None)
        if _file_of(frame) == "embedding.py" and path is not None:
            return path
    return None


def _vector_file_error(error: BaseException, path: str) -> str:
    known = _GLOVE.search(path)
    advice = f"; to make it: python scripts/fetch_data.py --glove {known[1]}" if known else ""
    match error:
        case FileNotFoundError():
            return f"file {path} not found{advice}"
        case StopIteration():
            return f"{path} is empty: expected a word and its numbers on each line{advice}"
        case UnicodeDecodeError():
            return f"{path} is not in UTF-8: {error}"
    return f"{path} is damaged: {error}{advice}"


def _reason(error: BaseException) -> str:
    """Returns the message of the error that caused this one."""
    return "" if error.__cause__ is None else f" ({error.__cause__})"


def _nearest_choice(error: BaseException) -> str:
    """Returns the registered name that was meant by one that AllenNLP does not know."""
    match = _NO_CHOICE.match(str(error))
    return "" if match is None else did_you_mean(match[1], re.findall(r"'([^']*)'", match[2]))


def _nearest_parameter(frames: list[FrameType]) -> str:
    """Returns the name that was meant by a parameter which AllenNLP does not know."""
    if not frames or frames[-1].f_code.co_name != "assert_empty":
        return ""
    unknown = list(frames[-1].f_locals["self"].params)
    for frame in reversed(frames):
        if frame.f_code.co_name == "create_kwargs":
            known = _parameters(frame.f_locals["cls"], frame.f_locals["constructor"])
            if frame.f_locals["cls"].__name__ == "TrainModel":
                known += _choices(sys.argv)
            known = [name for name in known if name not in unknown]
            return "".join(did_you_mean(name, known) for name in unknown)
    return ""


def _unexpected_parameter(name: str, frames: list[FrameType]) -> str | None:
    """Returns the message on a parameter that a config has and that no constructor takes."""
    for frame in frames:
        values = frame.f_locals
        if _file_of(frame) == "from_params.py" and name in values.get("kwargs", {}):
            cls = values.get("cls")
            constructor = values.get("constructor_to_inspect")
            known = _parameters(cls, constructor) if constructor is not None else []
            title = getattr(cls, "__name__", "a class of the config")
            return f"{title} has no parameter {name!r}{did_you_mean(name, known)}"
    return None


def _parameters(cls: Any, constructor: Any) -> list[str]:
    from allennlp.common.from_params import infer_method_params

    parameters = infer_method_params(cls, constructor) if inspect.isclass(cls) else {}
    return [name for name in parameters if name not in ("self", "cls", "kwargs")]


def _choices(arguments: list[str]) -> list[str]:
    """Returns all fields, the hidden ones included, of the config that `allennlp train` reads."""
    from allennlp.common import params

    for name in arguments[1:]:
        with contextlib.suppress(RuntimeError, ValueError):
            file = str(config_path(name))
            if file.endswith("sonnet") and os.path.isfile(file):
                path = json.dumps(os.path.realpath(file))
                return json.loads(
                    params.evaluate_snippet("fields", f"std.objectFieldsAll(import {path})")
                )
    return []


def _jsonnet_error(error: RuntimeError, frames: list[FrameType]) -> str:
    """Returns the first line of the message, and the name that was meant by an unknown one."""
    message = re.sub(r"^(RUNTIME|STATIC) ERROR: ", "", str(error).strip().split("\n")[0])
    if frames[-1].f_code.co_name == "parse_overrides":
        return f"the overrides cannot be read: {message}"
    if match := _NOT_ONE_OF.search(message):
        known = [name.strip(" '") for name in re.split(r",| or ", match[1])]
        message += did_you_mean(match[2], known)
    file = _local(frames, "params_file")
    if file is None or message.startswith(file):
        return message
    return f"{file}: {message}"


def _loaded_file(error: BaseException, frames: list[FrameType]) -> str | None:
    """Returns the file that `torch.load` could not read."""
    for frame in reversed(frames):
        if _file_of(frame) == "serialization.py" and isinstance(frame.f_locals.get("f"), str):
            return frame.f_locals["f"]
    return None


def _frames(error: BaseException) -> Iterator[FrameType]:
    for frame, _ in traceback.walk_tb(error.__traceback__):
        yield frame


def _file_of(frame: FrameType) -> str:
    return os.path.basename(frame.f_code.co_filename)


def _is_in(frame: FrameType | None, package: str) -> bool:
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == package


def _local(frames: list[FrameType], name: str) -> str | None:
    for frame in frames:
        value = frame.f_locals.get(name)
        if isinstance(value, str | os.PathLike):
            return str(value)
    return None

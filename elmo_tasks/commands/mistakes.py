import errno
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

from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.from_params import infer_method_params
from allennlp.data.data_loaders.multiprocess_data_loader import WorkerError

from elmo_tasks.common.nearest import did_you_mean

# The environment variable that shows the traceback of every error.
DEBUG = "ELMO_TASKS_DEBUG"

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


def mistake(error: BaseException) -> str | None:
    """
    Returns the message of an error that the user can correct, on one line: a mistake in a config,
    a file or a path, or a full disk. Returns `None` for a bug, whose traceback is of use.
    """
    message = _message(error)
    return None if message is None else " ".join(message.split())[:_LONGEST]


def wants_traceback() -> bool:
    return os.environ.get(DEBUG, "0") not in ("", "0")


def _message(error: BaseException) -> str | None:
    frames = list(_frames(error))
    last = frames[-1] if frames else None
    match error:
        case AllenNlpConfigurationError():
            return f"{error}{_nearest_parameter(frames)}{_reason(error)}"
        case json.JSONDecodeError() | UnicodeDecodeError():
            return _bad_line(frames) or f"the input cannot be read: {error}"
        case OSError():
            return _file_error(error)
        case _ if isinstance(error, _ARCHIVE_ERRORS):
            archive = _local(frames, "archive_file") or _local(frames, "path") or "a file"
            return f"{archive} is damaged or no archive of a model ({error})"
        case ValueError() if _is_in(last, "elmo_tasks"):
            return str(error)
        case RuntimeError() if last and last.f_code.co_filename.endswith("common/params.py"):
            return _jsonnet_error(error, last)
        case RuntimeError() if str(error).startswith("Error(s) in loading state_dict"):
            return str(error)
        case TypeError() if last and last.f_code.co_filename.endswith("common/from_params.py"):
            return f"the config has a value of another type than expected: {error}"
        case ModuleNotFoundError() if error.name in sys.argv:
            return f"--include-package: there is no package {error.name}"
        case WorkerError() if re.match(r"worker raised (Value|Configuration)Error\(", str(error)):
            return str(error).partition("\n")[0]
    return None


def _file_error(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    message = f"{' and '.join(names)}: {error.strerror}" if names else error.strerror
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message += "; make room. Files that were complete are kept" + how_to_go_on(sys.argv[1:])
    return message


def how_to_go_on(arguments: list[str]) -> str:
    """Returns what to type to go on with a command of AllenNLP, as the end of a sentence."""
    if not arguments:
        return ""
    if arguments[0] != "train":
        return "; run the same command again"
    folder = _option(arguments, "-s", "--serialization-dir")
    kept = [argument for argument in arguments if argument not in ("-f", "--force", "--recover")]
    if folder and any(name.startswith("training_state_") for name in _names_in(folder)):
        return f"; to go on: allennlp {_quoted(kept)} --recover"
    return f"; no checkpoint was saved yet, so begin again: allennlp {_quoted(kept)} --force"


def _quoted(arguments: list[str]) -> str:
    import shlex

    return shlex.join(arguments)


def _option(arguments: list[str], *names: str) -> str | None:
    for argument, value in zip(arguments, [*arguments[1:], ""]):
        if argument in names:
            return value
        for name in names:
            if argument.startswith(f"{name}="):
                return argument.removeprefix(f"{name}=")
    return None


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _reason(error: BaseException) -> str:
    """Returns the message of the error that caused this one."""
    return "" if error.__cause__ is None else f" ({error.__cause__})"


def _nearest_parameter(frames: list[FrameType]) -> str:
    """Returns the name that was meant by a parameter which AllenNLP does not know."""
    if not frames or frames[-1].f_code.co_name != "assert_empty":
        return ""
    unknown = list(frames[-1].f_locals["self"].params)
    for frame in reversed(frames):
        if frame.f_code.co_name == "create_kwargs":
            known = _parameters(frame.f_locals)
            return "".join(did_you_mean(name, known) for name in unknown)
    return ""


def _parameters(values: dict[str, Any]) -> list[str]:
    constructor, cls = values["constructor"], values["cls"]
    parameters = infer_method_params(cls, constructor) if inspect.isclass(cls) else {}
    return [name for name in parameters if name not in ("self", "cls")]


def _jsonnet_error(error: RuntimeError, frame: FrameType) -> str:
    """Returns the first line of jsonnet's message, and the place in the config."""
    first, *rest = str(error).strip().split("\n")
    message = re.sub(r"^(RUNTIME|STATIC) ERROR: ", "", first)
    places = [match[1] for line in rest if (match := re.match(r"\s+(\S+:[\d():-]+)\s", f"{line} "))]
    where = f" ({places[0]})" if places else ""
    what = "the overrides" if frame.f_code.co_name == "parse_overrides" else "the config"
    return f"{what} cannot be read: {message}{where}"


def _bad_line(frames: list[FrameType]) -> str | None:
    """Returns the first line of the input of `allennlp predict` that is not JSON in UTF-8."""
    for frame in frames:
        manager = frame.f_locals.get("self")
        path = getattr(manager, "_input_file", None)
        if isinstance(path, str) and os.path.isfile(path):
            with open(path, "rb") as file:
                for number, line in enumerate(file, start=1):
                    try:
                        if line.strip():
                            json.loads(line.decode("utf-8"))
                    except ValueError as error:
                        return f"{path}:{number}: expected JSON in UTF-8, but got {line[:80]!r} ({error})"
    return None


def _frames(error: BaseException) -> Iterator[FrameType]:
    for frame, _ in traceback.walk_tb(error.__traceback__):
        yield frame


def _is_in(frame: FrameType | None, package: str) -> bool:
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == package


def _local(frames: list[FrameType], name: str) -> str | None:
    for frame in frames:
        value = frame.f_locals.get(name)
        if isinstance(value, str | os.PathLike):
            return str(value)
    return None

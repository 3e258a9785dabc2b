"""Says what is wrong in a config, and which name was meant by an unknown one."""

import contextlib
import inspect
import json
import os
import re
import sys
from types import FrameType
from typing import Any

from elmo_tasks.commands.frames import file_of, local
from elmo_tasks.common.package_data import config_path
from elmo_tasks.common.spelling import did_you_mean

_NO_CHOICE = re.compile(r"(\S+) not in acceptable choices for \S+: (\[.*?\])")
# The messages of the assertions in training_configs/lib.
_NOT_ONE_OF = re.compile(r"must be (?:one of )?(.*?)(?:, or an object with .*?)?, not (\S+)")


def nearest_choice(error: BaseException) -> str:
    """Returns the registered name that was meant by one that AllenNLP does not know."""
    match = _NO_CHOICE.match(str(error))
    return "" if match is None else did_you_mean(match[1], re.findall(r"'([^']*)'", match[2]))


def nearest_parameter(frames: list[FrameType]) -> str:
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


def unexpected_parameter(name: str, frames: list[FrameType]) -> str | None:
    """Returns the message on a parameter that a config has and that no constructor takes."""
    for frame in frames:
        values = frame.f_locals
        if file_of(frame) == "from_params.py" and name in values.get("kwargs", {}):
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


def jsonnet_error(error: RuntimeError, frames: list[FrameType]) -> str:
    """Returns the first line of the message, and the name that was meant by an unknown one."""
    message = re.sub(r"^(RUNTIME|STATIC) ERROR: ", "", str(error).strip().split("\n")[0])
    if frames[-1].f_code.co_name == "parse_overrides":
        return f"the overrides cannot be read: {message}"
    if match := _NOT_ONE_OF.search(message):
        known = [name.strip(" '") for name in re.split(r",| or ", match[1])]
        message += did_you_mean(match[2], known)
    file = local(frames, "params_file")
    if file is None or message.startswith(file):
        return message
    return f"{file}: {message}"

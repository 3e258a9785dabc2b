"""Says what is wrong in a config, and which name was meant by an unknown one."""

import contextlib
import json
import os
import re
import sys
from types import FrameType

from elmo_tasks.commands.frames import local
from elmo_tasks.common.package_data import config_path
from elmo_tasks.common.spelling import did_you_mean

_NO_CHOICE = re.compile(r"(\S+) not in acceptable choices for (\S+): (\[.*?\])")
_ARGUMENT = re.compile(r"Failed to construct argument (\S+) with type")
# The messages of the assertions in training_configs/lib.
_NOT_ONE_OF = re.compile(r"must be (?:one of )?(.*?)(?:, or an object with .*?)?, not (\S+)")


def wrong_choice(error: BaseException) -> str | None:
    """Returns the message on a name that AllenNLP does not know, if it knows one like it."""
    argument = _ARGUMENT.match(str(error))
    cause: BaseException | None = error
    while cause is not None:
        if match := _NO_CHOICE.match(str(cause)):
            value, place, known = match.groups()
            if nearest := did_you_mean(value, re.findall(r"'([^']*)'", known)):
                return f"{argument[1] if argument else place} cannot be {value!r}{nearest}"
        cause = cause.__cause__
    return None


def hidden_field(error: BaseException) -> str:
    """Returns the hidden field of a config that was meant by one that nothing takes."""
    if getattr(error, "owner", None) != "TrainModel" or "; did you mean" in str(error):
        return ""
    field: str = error.field  # type: ignore[attr-defined]
    return did_you_mean(field, set(_choices(sys.argv)) - {field})


def _choices(arguments: list[str]) -> list[str]:
    """Returns all fields, the hidden ones included, of the config that `elmo-tasks train` reads."""
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

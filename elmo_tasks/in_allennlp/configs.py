"""
Makes AllenNLP find the configs and libraries of this package by their names, from any folder:
`allennlp train elmo_tasks:sst/both`, and `import 'elmo_tasks/sst.libsonnet'` in a config. Errors in
a config name the config's file.
"""

import contextlib
import json
import os
import re
from contextvars import ContextVar
from functools import wraps
from typing import Any

from allennlp.common import params

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.package_data import config_path, import_jsonnet
from elmo_tasks.common.spelling import did_you_mean
from elmo_tasks.in_allennlp.change import Change

_cached_path = params.cached_path
_evaluate_file = params.evaluate_file
_evaluate_snippet = params.evaluate_snippet

# The messages of the assertions in training_configs/lib.
_NOT_ONE_OF = re.compile(r"must be (?:one of )?(.*?)(?:, or an object with .*?)?, not (\S+)")

# The config that was read last.
_last_file: ContextVar[str | None] = ContextVar("last_file", default=None)


class JsonnetError(ConfigurationError, RuntimeError):
    """Raised for a config that is not jsonnet, or that fails an assertion."""


def hidden_fields() -> list[str]:
    """Returns all fields of the config that was read last, hidden fields included."""
    file = _last_file.get()
    with contextlib.suppress(RuntimeError, ValueError):
        if file is not None and os.path.isfile(file):
            snippet = f"std.objectFieldsAll(import {json.dumps(os.path.realpath(file))})"
            return json.loads(params.evaluate_snippet("fields", snippet))
    return []


@wraps(_cached_path)
def _path_of_config(name, *args, **kwargs):
    return _cached_path(config_path(name), *args, **kwargs)


def _evaluate_named_file(file: str, **kwargs: Any) -> str:
    _last_file.set(file)
    try:
        return _evaluate_file(file, import_callback=import_jsonnet, **kwargs)
    except RuntimeError as error:
        message = _message(error)
        prefix = "" if message.startswith(file) else f"{file}: "
        raise JsonnetError(f"{prefix}{message}") from error


def _evaluate_named_snippet(name: str, snippet: str, **kwargs: Any) -> str:
    try:
        return _evaluate_snippet(name, snippet, import_callback=import_jsonnet, **kwargs)
    except RuntimeError as error:
        # The overrides are the snippet that AllenNLP evaluates without a name.
        if name:
            raise
        raise JsonnetError(f"the overrides cannot be read: {_message(error)}") from error


def _message(error: RuntimeError) -> str:
    """
    Returns the first line of jsonnet's message. For an unknown name, adds the name that may have
    been meant.
    """
    message = re.sub(r"^(RUNTIME|STATIC) ERROR: ", "", str(error).strip().split("\n")[0])
    if match := _NOT_ONE_OF.search(message):
        known = [name.strip(" '") for name in re.split(r",| or ", match[1])]
        message += did_you_mean(match[2], known)
    return message


_BY_NAME = "Configs and libraries of this package are found by their names."

CHANGES = (
    Change(params, "cached_path", _path_of_config, _BY_NAME),
    Change(params, "evaluate_file", _evaluate_named_file, _BY_NAME),
    Change(params, "evaluate_snippet", _evaluate_named_snippet, _BY_NAME),
)

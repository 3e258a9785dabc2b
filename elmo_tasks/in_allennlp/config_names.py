"""
Finds the configs and libraries of this package by their names in the commands of `elmo-tasks`, from
any folder: `elmo-tasks train elmo_tasks:sst/both`, and `import 'elmo_tasks/sst.libsonnet'` in a
config. `allennlp` finds what AllenNLP finds.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from allennlp.common import params

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.package_data import config_path, import_jsonnet
from elmo_tasks.in_allennlp.replaced import replaced


@contextmanager
def configs_by_name() -> Iterator[None]:
    """
    While the block runs, AllenNLP reads configs with our names in them. A config that cannot be
    evaluated raises `ConfigurationError`, whose message is jsonnet's first line.
    """
    cached_path = params.cached_path
    with replaced(
        params,
        cached_path=lambda name, **options: cached_path(config_path(name), **options),
        evaluate_file=_with_our_names(params.evaluate_file),
        evaluate_snippet=_with_our_names(params.evaluate_snippet),
    ):
        yield


def read_config(path: str | os.PathLike, overrides: str | dict[str, Any] = "") -> dict[str, Any]:
    """Returns a config as AllenNLP reads it, with our names in it."""
    with configs_by_name():
        return params.Params.from_file(path, overrides).as_dict(quiet=True)


def check_overrides(path: str | os.PathLike, overrides: str) -> None:
    """
    Raises `ConfigurationError` if `--overrides` names a choice such as `elmo_at`: a hidden field of
    the jsonnet, which is no longer there when AllenNLP changes the evaluated config.
    """
    with configs_by_name():
        names = {name.partition(".")[0] for name in params.parse_overrides(overrides)}
        if not names:
            return
        file = os.path.abspath(config_path(path))
        found = params.parse_overrides(
            f"local config = import {json.dumps(file)}; "
            "{ all: std.objectFieldsAll(config), shown: std.objectFields(config) }"
        )
    if hidden := sorted(names & (set(found["all"]) - set(found["shown"]))):
        raise ConfigurationError(
            f"{hidden[0]} is a choice, which a config sets and --overrides cannot: beside {path}, "
            f"save a .jsonnet file with (import '{os.path.basename(file)}') {{ {hidden[0]}: ... }}"
        )


def _with_our_names(evaluate: Callable[..., str]) -> Callable[..., str]:
    def evaluate_with_names(name: str, *args: Any, **options: Any) -> str:
        try:
            # One such context may be within another.
            return evaluate(name, *args, **{"import_callback": import_jsonnet, **options})
        except RuntimeError as error:
            # AllenNLP evaluates the overrides as a snippet without a name.
            message = re.sub("^[A-Z]+ ERROR: ", "", str(error).strip().split("\n")[0])
            where = name or "the overrides"
            raise ConfigurationError(
                message if message.startswith(where) else f"{where}: {message}"
            ) from error

    return evaluate_with_names

"""
Finds the configs and libraries of this package by their names, in the commands of `elmo-tasks`: as
in `elmo-tasks train elmo_tasks:sst/both`, and `import 'elmo_tasks/sst.libsonnet'` in a config. The
script `allennlp` does not know these names.
"""

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import _jsonnet
from allennlp.commands.train import TrainModel
from allennlp.common import params

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.outputs import paths_in
from elmo_tasks.common.package_data import config_path, import_jsonnet
from elmo_tasks.common.replaced import replaced
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.elmo.from_config import bilm_of_path

# Fields that AllenNLP's `train` reads itself. The other fields are arguments of its `TrainModel`.
_OF_TRAIN = (
    *("distributed", "evaluation", "include_in_archive"),
    *("numpy_seed", "pytorch_seed", "random_seed"),
)


# Finds the files that a config imports. `read_config_and_files` notes them, too.
_import = import_jsonnet


@contextmanager
def configs_by_name() -> Iterator[None]:
    """
    Lets AllenNLP find the names of this package in configs while the block runs. If a config cannot
    be evaluated, raises `ConfigurationError` with the first line of jsonnet's message.
    """
    cached_path = params.cached_path
    with replaced(
        params,
        cached_path=lambda name, **options: cached_path(config_path(name), **options),
        evaluate_file=_with_our_names(_evaluate_file),
        evaluate_snippet=_with_our_names(params.evaluate_snippet),
    ):
        yield


def read_config(path: str | os.PathLike, overrides: str | dict[str, Any] = "") -> dict[str, Any]:
    """Returns a config as AllenNLP reads it. The config may use the names of this package."""
    with configs_by_name():
        return params.Params.from_file(path, overrides).as_dict(quiet=True)


def read_config_and_files(
    path: str | os.PathLike, overrides: str | dict[str, Any] = ""
) -> tuple[dict[str, Any], list[str]]:
    """
    Returns a config as `read_config` does, and the names of all files that training may read: the
    config, the files that it imports, and each text in it that may be a path.
    """
    imported: list[str] = []

    def note_import(folder: str, name: str) -> tuple[str, bytes]:
        file, content = import_jsonnet(folder, name)
        imported.append(file)
        return file, content

    with replaced(sys.modules[__name__], _import=note_import):
        config = read_config(path, overrides)
    return config, [os.fspath(config_path(path)), *imported, *paths_in(config)]


def check_fields(config: dict[str, Any], path: str | os.PathLike) -> None:
    """
    Raises `ConfigurationError` if a config has a field that AllenNLP's `train` does not take: a
    misspelt field, or a choice such as `elmo_at` in the overrides. A choice is a hidden field of
    the jsonnet at `path`, from which jsonnet computes other fields. AllenNLP applies overrides
    after that, which is too late.
    """
    field_names = {*inspect.signature(TrainModel.from_partial_objects).parameters, *_OF_TRAIN}
    # A `type` names another `TrainModel`, such as the user's own, which may take any fields.
    unknown = [] if "type" in config else sorted(config.keys() - field_names)
    if not unknown:
        return
    name, file = unknown[0], os.path.abspath(config_path(path))
    with configs_by_name():
        fields = params.parse_overrides(
            f"{{ all: std.objectFieldsAll(import {json.dumps(file)}) }}"
        )
    choices = set(fields["all"]) - field_names
    if name in choices - read_config(path).keys():
        imported, hint = os.path.basename(file), f"beside {path}, "
        if config_path(path) != path:
            imported, hint = f"{str(path).replace(':', '/')}.jsonnet", ""
        raise ConfigurationError(
            f"--overrides cannot set the choice {name}: {hint}save a .jsonnet file with "
            f"(import '{imported}') {{ {name}: ... }}"
        )
    names = sorted(choices - {*unknown}) + sorted(field_names)
    raise ConfigurationError(f"the config has no field {name!r}{nearest_or_all(name, names)}")


def _evaluate_file(path: str, **options: Any) -> str:
    # Given a folder, jsonnet would end the process.
    check_regular(path)
    return _jsonnet.evaluate_file(path, **options)


def _with_our_names(evaluate: Callable[..., str]) -> Callable[..., str]:
    def evaluate_with_names(name: str, *args: Any, **options: Any) -> str:
        callbacks = {
            "import_callback": _import,
            # training_configs/lib/chosen_bilm.libsonnet calls it.
            "native_callbacks": {"elmo_bilm": (("path",), bilm_of_path)},
        }
        try:
            # Within another block of `configs_by_name`, the options have the callbacks already.
            return evaluate(name, *args, **{**callbacks, **options})
        except RuntimeError as error:
            # AllenNLP evaluates the overrides as a snippet without a name.
            message = re.sub("^[A-Z]+ ERROR: ", "", str(error).strip().split("\n")[0])
            source = name or "the overrides"
            raise ConfigurationError(
                message if message.startswith(source) else f"{source}: {message}"
            ) from error

    return evaluate_with_names

import os
from pathlib import Path
from typing import Any

from elmo_tasks.bilm.files.many_langs import many_langs_options
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.json_text import parse_json

_MAX_BYTES = 10**7


def read_options(options_file: str | os.PathLike) -> dict[str, Any]:
    """
    Reads an `options.json` from a path or an address, or the `config.json` of a biLM of
    ELMoForManyLangs.
    """
    try:
        with open(local_path(options_file), "rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of options {options_file}") from error
    except OSError as error:
        raise ConfigurationError(f"{options_file} cannot be read: {error}") from error
    if len(content) > _MAX_BYTES:
        raise ConfigurationError(f"{options_file} has more than {_MAX_BYTES:,} bytes")
    try:
        options = parse_json(content.decode("utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{options_file} is not JSON: {error}") from error
    if not isinstance(options, dict):
        raise ConfigurationError(f"{options_file} is not a JSON object, but {options!r:.40}")
    if "config_path" in options:
        return many_langs_options(options, Path(options_file).parent)
    return options

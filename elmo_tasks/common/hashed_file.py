"""
Writes and reads safetensors files with a JSON object that describes the file. The object has a
hash, which shows whether the file is damaged.
"""

import json
import os
from collections.abc import Collection
from typing import Any

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.tensors import hash_bytes, hash_tensors
from elmo_tasks.common.text import parse_json

# The metadata of a file has, under this key, the JSON object that describes the file and has its
# hash.
_METADATA = "elmo_tasks"


def write_hashed(
    path: str | os.PathLike, tensors: dict[str, torch.Tensor], about: dict[str, Any]
) -> None:
    """
    Writes tensors with a JSON object that describes them. The file appears whole or not at all.
    """
    from safetensors.torch import save

    tensors = {
        name: tensor.detach().cpu().clone().contiguous() for name, tensor in sorted(tensors.items())
    }
    about = {**about, "hash": _hash(tensors, about)}
    write_whole(path, save(tensors, {_METADATA: json.dumps(about, sort_keys=True)}))


def read_hashed(
    path: str | os.PathLike, command: str, keys: Collection[str]
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """
    Returns the tensors of a file, by their names, and the JSON object that describes the file. The
    object must have the keys `keys`. Error messages name `command` as the command that writes such
    files. Raises `ConfigurationError` if the file is missing or damaged, or has no such object.
    """
    from safetensors import SafetensorError, safe_open

    try:
        check_regular(path)
        with safe_open(os.fspath(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in sorted(file.keys())}
    except (SafetensorError, OSError, ValueError) as error:
        raise ConfigurationError(
            f"{path} is damaged, or not a safetensors file: {error}"
        ) from error
    try:
        about = parse_json(metadata.get(_METADATA, ""))
        hash_in_file = about.pop("hash", None)
        # The softmax of `base` has no hash of itself, only the hashes of its biLM and of its words.
        is_whole = hash_in_file == _hash(tensors, about) or (
            hash_in_file is None and "words" in about
        )
        # The hash covers the values of the object; the keys are compared here.
        if is_whole and about.keys() == set(keys):
            return tensors, about
    except (ValueError, TypeError, AttributeError):
        pass
    raise ConfigurationError(f"{path} is damaged, or was not written by {command}")


def _hash(tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> str:
    """Returns a hash of the tensors, their names, and the object that describes them."""
    values = [about[key] for key in sorted(about)]
    names = json.dumps([list(tensors), *values], sort_keys=True)
    return hash_bytes(names.encode() + hash_tensors(*tensors.values())).hex()

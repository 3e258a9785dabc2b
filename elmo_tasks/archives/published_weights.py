import json
import os

import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.tensors import hash_bytes, hash_tensors
from elmo_tasks.common.text import parse_json
from elmo_tasks.elmo.locate import is_name, locate_bilm

StateDict = dict[str, torch.Tensor]

# The metadata of the file has the biLMs and a hash of the content under this key.
_METADATA = "elmo_tasks"


def write_published(path: str | os.PathLike, state: StateDict, bilms: dict[str, str]) -> None:
    """
    Writes the weights of a model in float16. In place of the weights of a biLM in `bilms`, writes
    the biLM's name and a hash of these weights. A key of `bilms` is a name in the model, such as
    `text_embedder.bilm`, and its value a name that `locate_bilm` knows. Raises `ConfigurationError`
    if a number is too large for float16.
    """
    from safetensors.torch import save

    left_out: dict[str, dict[str, str]] = {}
    rest = {name: tensor.detach().cpu() for name, tensor in state.items()}
    exact: StateDict = {}
    for name, known_as in bilms.items():
        weights = _named_weights(known_as)
        left_out[name] = {"name": known_as, "fingerprint": hash_of_weights(weights)}
        for key in weights:
            del rest[f"{name}.{key}"]
        # The start state of the biLM is not rounded to float16.
        exact |= {key: rest.pop(key) for key in list(rest) if key.startswith(f"{name}.")}
    tensors = {name: _halved(name, tensor) for name, tensor in rest.items()} | exact
    tensors = {name: tensor.clone().contiguous() for name, tensor in sorted(tensors.items())}
    about = {"bilms": left_out, "hash": _hash(tensors, left_out)}
    write_whole(path, save(tensors, {_METADATA: json.dumps(about, sort_keys=True)}))


def read_published(path: str | os.PathLike) -> StateDict:
    """
    Returns the state dict of a model that `write_published` wrote, in float32 and with the weights
    of the biLMs that the file names. Raises `ConfigurationError` if the file is damaged, or a biLM
    is missing or has other weights than in the training.
    """
    tensors, bilms = _read(path)
    state: StateDict = {}
    for name, (known_as, fingerprint) in bilms.items():
        if not is_name(known_as):
            raise ConfigurationError(
                f"{path} needs the biLM {known_as!r:.80}, which is neither known nor the name of a "
                "repository"
            )
        weights = _named_weights(known_as)
        found = hash_of_weights(weights)
        if found != fingerprint:
            raise ConfigurationError(
                f"{path} was trained with the biLM {known_as} of fingerprint {fingerprint:.16}, "
                f"but {known_as} now has the fingerprint {found:.16}; use the biLM of the "
                "training, or a model trained with this biLM"
            )
        state |= {f"{name}.{key}": tensor for key, tensor in weights.items()}
    # `pop` frees the float16 tensors, so that only one at a time is in memory in both dtypes.
    for name in list(tensors):
        tensor = tensors.pop(name)
        state[name] = tensor.float() if tensor.is_floating_point() else tensor
    return state


def hash_of_weights(weights: StateDict) -> str:
    """Returns a hash of the weights of a biLM as 32 hex digits."""
    return hash_tensors(*(tensor for _, tensor in sorted(weights.items()))).hex()


def _read(path: str | os.PathLike) -> tuple[StateDict, dict[str, tuple[str, str]]]:
    """Returns the tensors of a file, and the name and the fingerprint of each biLM."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in sorted(file.keys())}
    except (SafetensorError, OSError, ValueError) as error:
        raise ConfigurationError(
            f"{path} is damaged, or not a safetensors file: {error}"
        ) from error
    try:
        about = parse_json(metadata.get(_METADATA, ""))
        bilms = {
            name: (str(each["name"]), str(each["fingerprint"]))
            for name, each in about["bilms"].items()
        }
        if about["hash"] == _hash(tensors, about["bilms"]):
            return tensors, bilms
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ConfigurationError(f"{path} is damaged, or was not written by elmo-tasks pack")


def _hash(tensors: StateDict, bilms: dict[str, dict[str, str]]) -> str:
    """Returns a hash of the tensors, their names, and the biLMs."""
    names = json.dumps([list(tensors), bilms], sort_keys=True)
    return hash_bytes(names.encode() + hash_tensors(*tensors.values())).hex()


def _named_weights(name: str) -> StateDict:
    # `reset` avoids computing a start state, which is not a weight.
    return make_bilm(*locate_bilm(name).files, state="reset").weights()


def _halved(name: str, tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    half = tensor.half()
    if not half.isfinite().all():
        raise ConfigurationError(f"{name} has a number that is too large for float16")
    return half

import os
from collections.abc import Mapping
from contextlib import suppress

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashed_file import read_hashed, write_hashed
from elmo_tasks.elmo.locate import is_name, locate_bilm

StateDict = dict[str, torch.Tensor]


def write_published(
    path: str | os.PathLike, state: StateDict, bilms: Mapping[str, tuple[str, str]]
) -> None:
    """
    Writes the weights of a model in float16. For a biLM in `bilms`, writes its name and the hash of
    its weights, not the weights. `bilms` maps the name of a module, such as `text_embedder.bilm`,
    to a name that `locate_bilm` takes and to `BiLm.weights_hash` in hex digits. Raises
    `ConfigurationError` if a number is too large for float16.
    """
    tensors: StateDict = {}
    for name, tensor in state.items():
        bilm = next((bilm for bilm in bilms if name.startswith(f"{bilm}.")), None)
        if bilm is None:
            tensors[name] = _in_float16(name, tensor)
        elif name.startswith(f"{bilm}.state."):
            # The start state of the biLM is no weight, and is not rounded to float16.
            tensors[name] = tensor
    left_out = {key: {"name": name, "fingerprint": print_} for key, (name, print_) in bilms.items()}
    write_hashed(path, tensors, {"bilms": left_out})


def read_published(path: str | os.PathLike, model: torch.nn.Module) -> StateDict:
    """
    Returns the state dict of a model that `write_published` wrote, in float32. Reads each biLM that
    the file names into the biLM of `model`. Raises `ConfigurationError` if the file is damaged, or
    if a biLM is missing or has other weights than in training.
    """
    tensors, about = read_hashed(path, "elmo-tasks pack", ["bilms"])
    state: StateDict = {}
    try:
        bilms = {
            name: (str(fields["name"]), str(fields["fingerprint"]))
            for name, fields in about["bilms"].items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"{path} is damaged, or was not written by elmo-tasks pack"
        ) from error
    for name, (known_as, fingerprint) in bilms.items():
        weights = _read_bilm(path, model, name, known_as, fingerprint).weights()
        state |= {f"{name}.{key}": tensor for key, tensor in weights.items()}
    # `pop` frees the float16 tensors, so that only one at a time is in memory in both dtypes.
    for name in list(tensors):
        tensor = tensors.pop(name)
        state[name] = tensor.float() if tensor.is_floating_point() else tensor
    return state


def _read_bilm(
    path: str | os.PathLike, model: torch.nn.Module, name: str, known_as: str, fingerprint: str
) -> BiLm:
    """
    Reads the biLM that a file names into the biLM of a model, and compares its hash with that in
    the file.
    """
    if not is_name(known_as):
        raise ConfigurationError(
            f"{path} needs the biLM {known_as!r:.80}, which is neither known nor the name of a "
            "repository"
        )
    bilm = dict(model.named_modules()).get(name)
    if not isinstance(bilm, BiLm):
        raise ConfigurationError(f"{path} has the biLM {name!r:.80}, which its config lacks")
    weights, actual = locate_bilm(known_as).weights, "other options"
    with suppress(ConfigurationError):
        bilm.read(weights)
        actual = f"the fingerprint {bilm.weights_hash().hex():.16}"
        if bilm.weights_hash().hex() == fingerprint:
            return bilm
    raise ConfigurationError(
        f"{path} was trained with other weights of the biLM {known_as} (fingerprint "
        f"{fingerprint:.16}) than {known_as} has now ({actual}): use the earlier {known_as}, "
        f"or a model trained with the present one (elmo-tasks check {known_as} says whether "
        "its files are sound)"
    )


def _in_float16(name: str, tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    half = tensor.half()
    if not half.isfinite().all():
        raise ConfigurationError(f"{name} has a number that is too large for float16")
    return half

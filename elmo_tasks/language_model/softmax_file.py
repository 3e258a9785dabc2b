import json
import os
from pathlib import Path

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.tensors import hash_bytes, hash_tensors
from elmo_tasks.common.text import parse_json
from elmo_tasks.language_model.softmax import LeftOut, Softmax

# The files of a softmax, beside the options and weights of its biLM.
SOFTMAX_FILE, WORDS_FILE = "softmax.safetensors", "softmax_words.txt"

# The key of the file's metadata that has the hashes.
_METADATA = "elmo_tasks"

_DTYPES = {"weight": torch.int8}


def write_softmax(folder: str | os.PathLike, softmax: Softmax, bilm: BiLm) -> None:
    """
    Writes a softmax with 8 bits for each weight to a folder: `softmax.safetensors`, and its words,
    one on each line, to `softmax_words.txt`. `bilm` must have been read from the files in this
    folder; `read_softmax` refuses any other biLM.
    """
    from safetensors.torch import save

    tensors = {"weight": softmax.weight, "scale": softmax.scale, "bias": softmax.bias}
    if softmax.left_out is not None:
        tensors |= {f"left_out.{name}": part for name, part in softmax.left_out._asdict().items()}
    words = "".join(f"{word}\n" for word in softmax.words).encode()
    about = {"bilm": _fingerprint(bilm), "words": hash_bytes(words).hex()}
    content = save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        {_METADATA: json.dumps(about)},
    )
    # The two files belong together if `SOFTMAX_FILE` has the hash of the words.
    for name, written in ((WORDS_FILE, words), (SOFTMAX_FILE, content)):
        write_whole(Path(folder) / name, written)


def read_softmax(folder: str | os.PathLike, bilm: BiLm) -> Softmax:
    """
    Reads the softmax of a biLM, onto the biLM's device.

    # Raises

    `ConfigurationError`: A file is missing or damaged, or the softmax is that of another biLM.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(folder) / SOFTMAX_FILE
    if not path.exists():
        raise ConfigurationError(f"{folder} has no {SOFTMAX_FILE}, which elmo-tasks pack writes")
    check_regular(path)
    try:
        with safe_open(os.fspath(path), framework="pt") as file:
            about = parse_json((file.metadata() or {}).get(_METADATA, ""))
            tensors = {name: file.get_tensor(name) for name in sorted(file.keys())}
        words = (Path(folder) / WORDS_FILE).read_bytes()
        is_whole = about["words"] == hash_bytes(words).hex()
        known_as = about["bilm"]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path} is damaged, or elmo-tasks pack did not write it: {error}"
        ) from error
    if known_as != _fingerprint(bilm):
        raise ConfigurationError(f"{path} is not the softmax of the biLM beside it")
    if not is_whole:
        raise ConfigurationError(
            f"{path.with_name(WORDS_FILE)} is not the list of words of {path.name}"
        )
    listed = words.decode().split("\n")[:-1]
    shapes = _shapes(len(listed), bilm.options.projection_dim)
    if tensors.keys() not in (shapes.keys(), {"weight", "scale", "bias"}) or any(
        tensor.shape != shapes[name]
        or tensor.dtype != _DTYPES.get(name, torch.float32)
        or not tensor.isfinite().all()
        for name, tensor in tensors.items()
    ):
        raise ConfigurationError(f"{path} is damaged, or elmo-tasks pack did not write it")
    device = bilm.like.device
    weight, bias, scale, *left_out = (
        tensors[name].to(device) for name in shapes if name in tensors
    )
    return Softmax(listed, weight, bias, scale, LeftOut(*left_out) if left_out else None)


def _shapes(num_words: int, dim: int) -> dict[str, tuple[int, ...]]:
    return {
        "weight": (num_words, dim),
        "bias": (num_words,),
        "scale": (num_words,),
        "left_out.bias": (),
        "left_out.mean": (dim,),
        "left_out.covariance": (dim, dim),
    }


def _fingerprint(bilm: BiLm) -> str:
    return hash_tensors(*(tensor for _, tensor in sorted(bilm.weights().items()))).hex()

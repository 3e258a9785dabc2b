"""Computes hashes and distinct rows of tensors, and reads files of tensors."""

import hashlib
import os
import zipfile
from contextlib import nullcontext
from io import BytesIO
from typing import Any

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular

HASH_BYTES = 16


def hash_bytes(content: bytes | memoryview) -> bytes:
    """Returns a hash of 128 bits that is the same in every process."""
    return hashlib.blake2b(content, digest_size=HASH_BYTES).digest()


def hash_tensors(*tensors: torch.Tensor) -> bytes:
    """Returns a hash of the shapes, dtypes and numbers of tensors on any device."""
    hashes = []
    for tensor in tensors:
        content = tensor.detach().cpu().contiguous()
        numbers = content.flatten().view(torch.uint8).numpy()
        hashes.append(f"{tuple(content.shape)} {content.dtype}".encode() + hash_bytes(numbers.data))
    return hash_bytes(b"".join(hashes))


def distinct_rows(char_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Returns the distinct rows of a matrix of ids, such as char ids of shape (tokens, 50). Also
    returns, for each row, its index among the distinct rows: shape (tokens,). Compares rows by a
    hash of 64 bits, and then in full, so the result is right even if two hashes are equal. This is
    ten times as fast as `torch.unique` over rows.
    """
    if len(char_ids) == 0:
        return char_ids, char_ids.new_zeros(0)
    hashes = (char_ids * _factors(char_ids)).sum(dim=1)
    hashes, rows = torch.unique(hashes, return_inverse=True)
    # One token is chosen for each hash. Any will do if all tokens with the same hash are equal.
    indices = rows.new_zeros(len(hashes))
    indices[rows] = torch.arange(len(char_ids), device=char_ids.device)
    distinct = char_ids[indices]
    if torch.equal(distinct[rows], char_ids):
        return distinct, rows
    return torch.unique(char_ids, dim=0, return_inverse=True)


def _factors(char_ids: torch.Tensor) -> torch.Tensor:
    """Returns odd numbers of 64 bits that are the same in every process."""
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(-(2**62), 2**62, (char_ids.size(1),), generator=generator) * 2 + 1
    return factors.to(char_ids.device)


def read_torch_file(path: str | os.PathLike, content: BytesIO | None = None) -> dict[str, Any]:
    """
    Reads a dictionary of numbers, texts and tensors that `torch.save` wrote, from a file or its
    `content`. Compares the checksums of the file, which `torch.load` ignores. Raises
    `ConfigurationError` if the file is damaged or holds anything else.
    """
    try:
        if content is None:
            check_regular(path)
        source = content or os.fspath(path)
        with nullcontext(content) if content is not None else open(path, "rb") as file:
            # Before version 1.6, PyTorch wrote no zip file.
            if file.read(4) == b"PK\x03\x04":
                with zipfile.ZipFile(file) as records:
                    if damaged := records.testzip():
                        raise ValueError(f"the checksum of {damaged!r:.80} is wrong")
            file.seek(0)
        tensors = torch.load(source, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file {path}") from error
    except ConfigurationError:
        raise
    # PyTorch raises errors of many kinds for a file that is damaged or made to do harm.
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise ConfigurationError(
            f"{path} is damaged, or not a file of PyTorch: {reason:.200}"
        ) from error
    if not isinstance(tensors, dict):
        raise ConfigurationError(f"{path} holds {tensors!r:.80}, not tensors by name")
    return tensors


def read_tensors(path: str | os.PathLike) -> dict[str, torch.Tensor]:
    """Reads a dictionary as `read_torch_file` does, but refuses values that are not tensors."""
    tensors = read_torch_file(path)
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors.values()):
        raise ConfigurationError(f"{path} holds something other than tensors")
    return dict(tensors)

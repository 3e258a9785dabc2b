import os
import zipfile
from contextlib import nullcontext
from io import BytesIO
from typing import Any

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular


def read_torch_file(path: str | os.PathLike, content: BytesIO | None = None) -> dict[str, Any]:
    """
    Reads a dictionary of numbers, text and tensors that `torch.save` wrote, from a file or its
    `content`. `torch.load` does not compare the checksums, so this function does. Raises
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
        read = torch.load(source, map_location="cpu", weights_only=True)
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
    if not isinstance(read, dict):
        raise ConfigurationError(f"{path} holds {read!r:.80} and no tensors by name")
    return read


def read_tensors(path: str | os.PathLike) -> dict[str, torch.Tensor]:
    """Reads named tensors as `read_torch_file` does, and raises the same error for other things."""
    tensors = read_torch_file(path)
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors.values()):
        raise ConfigurationError(f"{path} holds something other than tensors")
    return dict(tensors)

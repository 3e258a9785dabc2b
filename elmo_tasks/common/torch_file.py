import os
import struct
import zipfile
from contextlib import nullcontext
from io import BytesIO
from typing import Any, BinaryIO

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular

# The bytes at the end of a zip file that have no record: the ends of zip64, and the end of zip.
_ZIP64_BYTES = 56 + 20 + 22


def read_torch_file(path: str | os.PathLike, content: BytesIO | None = None) -> dict[str, Any]:
    """
    Reads a dictionary of numbers, text and tensors that `torch.save` wrote, from a file or its
    `content`. `torch.load` neither compares the checksums nor bounds what it decompresses, so this
    function does. Raises `ConfigurationError` if the file is damaged or holds anything else.
    """
    try:
        if content is None:
            check_regular(path)
        source = content or os.fspath(path)
        with nullcontext(content) if content is not None else open(path, "rb") as file:
            # Before version 1.6, PyTorch wrote no zip file.
            if file.read(4) == b"PK\x03\x04":
                _check_zip(file)
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


def _check_zip(file: BinaryIO) -> None:
    with zipfile.ZipFile(file) as records:
        if any(each.compress_type for each in records.infolist()):
            raise ValueError("it is compressed, but `torch.save` never compresses")
        if damaged := records.testzip():
            raise ValueError(f"the checksum of {damaged!r:.80} is wrong")
    # `zipfile` reads the list of records before the end of the file, and PyTorch the list whose
    # place the end names. If these were two lists, the second would be unchecked.
    end = file.seek(-_ZIP64_BYTES, os.SEEK_END)
    tail = file.read()
    (place,) = struct.unpack("<I", tail[-6:-2])
    if tail[56:60] == b"PK\x06\x07":
        place, named = (struct.unpack("<Q", tail[at : at + 8])[0] for at in (48, 64))
        place = place if named == end else None
    if tail[-22:-18] != b"PK\x05\x06" or place != records.start_dir:
        raise ValueError("its list of records is not at its end")


def read_tensors(path: str | os.PathLike) -> dict[str, torch.Tensor]:
    """Reads named tensors as `read_torch_file` does, and raises the same error for other things."""
    tensors = read_torch_file(path)
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors.values()):
        raise ConfigurationError(f"{path} holds something other than tensors")
    return dict(tensors)

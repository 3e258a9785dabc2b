import os
import zipfile
import zlib

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.torch_pickle import check_pickle

# The first bytes of a file of PyTorch 1.6 or later. `torch.load` reads a file with other first
# bytes as a pickle, which has no checksums.
_START = b"PK\x03\x04"

# The exceptions by which `zipfile`, PyTorch and `check_pickle` report a damaged file.
_ERRORS = (
    *(zipfile.BadZipFile, OSError, EOFError, RuntimeError, UnicodeDecodeError, zlib.error),
    *(ValueError, LookupError),
)


def check_torch_file(path: str | os.PathLike) -> None:
    """
    Checks a file before `torch.load` reads it. `torch.load` ignores the checksums that `torch.save`
    writes, so it reads wrong numbers from a damaged file. It decompresses data of any size,
    although `torch.save` never compresses. Loading a pickle can take any amount of time and memory.

    # Raises

    `ConfigurationError`: The file is damaged, is older than PyTorch 1.6, has compressed data, or
        has a pickle that `torch.save` would not write.
    """
    check_regular(path)
    try:
        with open(path, "rb") as start:
            if start.read(4) != _START:
                raise ValueError("it does not begin as files of version 1.6 or later")
        with zipfile.ZipFile(path) as file:
            num_bytes = os.path.getsize(path)
            for record in file.infolist():
                if record.compress_type != zipfile.ZIP_STORED or record.file_size > num_bytes:
                    raise ConfigurationError(
                        f"{path} holds {record.filename!r:.80} compressed, but `torch.save` "
                        "never compresses"
                    )
            damaged = file.testzip()
        if damaged is None:
            # The reader of PyTorch finds the record that `torch.load` will read.
            check_pickle(torch._C.PyTorchFileReader(os.fspath(path)).get_record("data.pkl"))
    except ConfigurationError:
        raise
    except _ERRORS as error:
        raise ConfigurationError(f"{path} is damaged, or not a file of PyTorch: {error}") from error
    if damaged is not None:
        raise ConfigurationError(f"{path} is damaged: the checksum of {damaged!r:.80} is wrong")

import os
import zipfile
import zlib

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular

# How a file begins that PyTorch wrote before version 1.6: as a pickle. Such a file has no checksum.
_OLD = b"\x80"

# The exceptions by which `zipfile` reports a damaged file.
_ZIP_ERRORS = (zipfile.BadZipFile, OSError, EOFError, RuntimeError, UnicodeDecodeError, zlib.error)


def check_torch_file(path: str | os.PathLike) -> None:
    """
    Checks a file that `torch.load` is to read. `torch.load` ignores the checksums that `torch.save`
    writes, so that it reads wrong numbers from a damaged file, and it unpacks what is packed,
    whatever its size, although `torch.save` packs nothing.

    # Raises

    `ConfigurationError`
        The file is damaged, is not one of PyTorch, or holds something in packed form.
    """
    check_regular(path)
    with open(path, "rb") as start:
        if start.read(1) == _OLD:
            return
    try:
        with zipfile.ZipFile(path) as file:
            num_bytes = os.path.getsize(path)
            for record in file.infolist():
                if record.compress_type != zipfile.ZIP_STORED or record.file_size > num_bytes:
                    raise ConfigurationError(
                        f"{path} holds {record.filename!r:.80} in packed form, as `torch.save` "
                        "never writes"
                    )
            damaged = file.testzip()
    except _ZIP_ERRORS as error:
        raise ConfigurationError(f"{path} is damaged, or not a file of PyTorch: {error}") from error
    if damaged is not None:
        raise ConfigurationError(f"{path} is damaged: the checksum of {damaged!r:.80} is wrong")

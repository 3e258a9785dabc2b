import os
import zipfile

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular


def check_torch_file(path: str | os.PathLike) -> None:
    """
    Raises `ConfigurationError` if a file that `torch.load` is to read would unpack to more than its
    own size, or is no file. `torch.save` packs nothing, but `torch.load` unpacks.
    """
    check_regular(path)
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as file:
            records = file.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ConfigurationError(f"{path} is damaged: {error}") from error
    num_bytes = os.path.getsize(path)
    for record in records:
        if record.compress_type != zipfile.ZIP_STORED or record.file_size > num_bytes:
            raise ConfigurationError(
                f"{path} holds {record.filename!r:.80} in packed form, as `torch.save` never writes"
            )

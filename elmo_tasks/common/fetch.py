import hashlib
import os
from pathlib import Path

import torch


def local_path(name: str | os.PathLike) -> str:
    """
    Returns the path of a local file, or of a copy of the file at an address, which is fetched on
    first use.

    If AllenNLP is installed, it fetches the file, and `s3://`, `gs://` and `hf://` work as well as
    `https://`. Otherwise PyTorch fetches the file into its cache (`torch.hub.get_dir()`), and only
    `http://` and `https://` work.

    # Raises

    `FileNotFoundError`
        There is no such file.
    `OSError`
        The address cannot be reached.
    """
    name = os.path.expanduser(os.fspath(name))
    if "://" not in name:
        if not os.path.exists(name):
            raise FileNotFoundError(f"file {name} not found")
        return name
    try:
        from allennlp.common.file_utils import cached_path
    except ModuleNotFoundError:
        return _fetched(name)
    return str(cached_path(name))


def _fetched(address: str) -> str:
    if not address.startswith(("http://", "https://")):
        raise OSError(f"{address} is not an http:// or https:// address")
    folder = Path(torch.hub.get_dir(), "elmo_tasks", hashlib.sha256(address.encode()).hexdigest())
    # The copy has the name of the file, so that a suffix such as .gz is kept.
    path = folder / (address.rstrip("/").rpartition("/")[2] or "file")
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        torch.hub.download_url_to_file(address, str(path))
    return str(path)

import hashlib
import os
import stat
from pathlib import Path

import torch

from elmo_tasks.common.errors import ConfigurationError

_KINDS = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}


def local_path(name: str | os.PathLike) -> str:
    """
    Returns the path of a local file, or of a copy of the file at an address, which is fetched on
    first use: by AllenNLP, or without AllenNLP by PyTorch from `http(s)://` into its cache
    (`torch.hub.get_dir()`).

    # Raises

    `ConfigurationError`: The path leads to a folder, a pipe or a device.
    `OSError`: There is no such file, or the address cannot be reached.
    """
    name = os.path.expanduser(os.fspath(name))
    if "://" not in name:
        if not os.path.exists(name):
            raise FileNotFoundError(f"file {name} not found")
        check_regular(name)
        return name
    try:
        from allennlp.common.file_utils import cached_path
    except ModuleNotFoundError:
        return _fetched(name)
    return str(cached_path(name))


def check_regular(path: str | os.PathLike) -> None:
    """Raises `ConfigurationError` for a folder, and for a pipe or device, which could block."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "device")
        raise ConfigurationError(f"{os.fspath(path)} is not a file, but a {kind}")


def check_inside(path: Path, folder: Path) -> None:
    """
    Raises `ConfigurationError` for a link out of a folder. In the hub's cache, links may lead to
    the `blobs` of the repository.
    """
    if path.is_symlink():
        home = folder.resolve()
        homes = [home, home.parents[1] / "blobs"] if home.parent.name == "snapshots" else [home]
        if not any(path.resolve(strict=True).is_relative_to(each) for each in homes):
            raise ConfigurationError(f"{path} is a link out of its folder")


def _fetched(address: str) -> str:
    if not address.startswith(("http://", "https://")):
        raise OSError(f"{address} is not an http:// or https:// address")
    name = f"{hashlib.sha256(address.encode()).hexdigest()}.file"
    path = Path(torch.hub.get_dir(), "elmo_tasks", name)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.hub.download_url_to_file(address, str(path))
    return str(path)

"""
Fetches files from addresses and from the Hugging Face hub. Refuses paths that lead to pipes, to
devices or out of a folder.
"""

import contextlib
import functools
import hashlib
import os
import re
import socket
import stat
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import DATA_SUFFIXES, FETCHED_FILES

_KINDS = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}

# The files of a repository that are fetched: files of a biLM or a published model, never code.
_DATA_FILE = re.compile(rf"{'|'.join(map(re.escape, FETCHED_FILES))}|vocabulary/[\w-]+\.txt")

# The name of a repository. No part of it begins with a dot, so no name leads out of the cache.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@\w[\w.-]*(/\w[\w.-]*)*)?")

# With one of these suffixes, `a/b` is the path of a file, not the name of a repository.
_FILE = re.compile(
    rf"(\.(csv|gz|h5|json|jsonl|jsonnet|tsv|txt|xz|zip)|{'|'.join(map(re.escape, DATA_SUFFIXES))})$"
)

# The seconds in which a server must answer.
_SECONDS = 10

# The maximum size of a repository's data files: several times the largest biLM with its softmax.
_MOST_BYTES = 8 * 10**9


def local_path(name: str | os.PathLike) -> str:
    """
    Returns the path of a local file, or of the local copy of a file at an address. The copy is
    fetched on first use, by AllenNLP into its cache. Without AllenNLP, only `http(s)://` works, and
    the copy is in PyTorch's cache (`torch.hub.get_dir()`).

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
    return _fetch(name)


def check_regular(path: str | os.PathLike) -> None:
    """
    Raises `ConfigurationError` for a folder, a pipe or a device. Reading from a pipe or device
    could block.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "device")
        remedy = ": write what comes through it to a file" if kind == "pipe" else ""
        raise ConfigurationError(f"{os.fspath(path)} is not a file, but a {kind}{remedy}")


def check_inside(path: Path, folder: Path) -> None:
    """
    Raises `ConfigurationError` if a path is a link that leads out of the folder. Links in the hub's
    cache are allowed: they lead to the `blobs` of their repository.
    """
    if path.is_symlink():
        home = folder.resolve()
        homes = [home, home.parents[1] / "blobs"] if home.parent.name == "snapshots" else [home]
        if not any(path.resolve(strict=True).is_relative_to(home_folder) for home_folder in homes):
            raise ConfigurationError(f"{path} is a link out of its folder")


def check_folder(folder: Path) -> None:
    """
    Raises `ConfigurationError` if a folder has a pipe, a device, or a link that leads out of the
    folder.
    """
    for path in folder.rglob("*"):
        check_inside(path, folder)
        if not path.is_dir():
            check_regular(path)


def is_data_file(name: str) -> bool:
    """Returns whether a file belongs to a biLM or model, by its name in a repository or folder."""
    return _DATA_FILE.fullmatch(name) is not None


def is_hub_name(name: str) -> bool:
    """
    Returns whether a name is that of a repository: `owner/name` or `owner/name@revision`. A file or
    folder of this name counts as a path. Without a revision, `a/b` also counts as a path if a
    folder `a` exists, or if `b` has the suffix of a file.
    """
    if _NAME.fullmatch(name) is None or os.path.exists(name):
        return False
    is_path = _FILE.search(name) or os.path.isdir(name.partition("/")[0])
    return "@" in name or not is_path


@functools.cache
def hub_folder(name: str) -> str:
    """
    Fetches the data files of a repository (see `is_hub_name`) on the Hugging Face hub, and returns
    their local folder. A revision is a branch (by default `main`), a tag or a commit. If the hub
    cannot be reached, copies in the cache are used. The environment variables of `huggingface_hub`
    apply, such as `HF_ENDPOINT`, `HF_HOME` and `HF_HUB_OFFLINE`. Raises `ConfigurationError` if the
    repository or revision is missing or too large, or cannot be reached and is not in the cache.
    """
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ModuleNotFoundError:
        raise ConfigurationError(
            f"there is no file or folder {name}, and fetching a repository of this name from the "
            "hub needs the package huggingface_hub: pip install huggingface_hub"
        ) from None
    repo, _, revision = name.partition("@")
    revision = revision or "main"
    # huggingface_hub itself reads this variable only when it is imported.
    endpoint = os.environ.get("HF_ENDPOINT")
    files: list[str] | None = None
    try:
        about = HfApi(endpoint).model_info(repo, revision=revision, files_metadata=True, timeout=10)
        siblings = [sibling for sibling in about.siblings or () if is_data_file(sibling.rfilename)]
        files = [sibling.rfilename for sibling in siblings]
        if not files:
            raise ConfigurationError(f"{name} has no files of a biLM or of a model")
        if sum(sibling.size or 0 for sibling in siblings) > _MOST_BYTES:
            raise ConfigurationError(
                f"{name} is not fetched: its files have over {_MOST_BYTES:,} bytes"
            )
        return snapshot_download(repo, revision=revision, allow_patterns=files, endpoint=endpoint)
    except ConfigurationError:
        raise
    # Versions of huggingface_hub, and the packages that it uses, raise different errors.
    except Exception as error:
        if files is None:
            with contextlib.suppress(Exception):
                return snapshot_download(repo, revision=revision, local_files_only=True)
        raise ConfigurationError(
            f"there is no file or folder {name}, and it cannot be fetched from the hub: "
            f"{reason_of(error)}"
        ) from None


# A process that reads a file twice asks once, and so reads the same content.
@functools.cache
def _fetch(address: str) -> str:
    try:
        from allennlp.common.file_utils import CACHE_DIRECTORY, cached_path
        from cached_path import find_latest_cached
    except ModuleNotFoundError:
        fetch, copy = _download, _copy_of(address)
        if copy.exists():
            return str(copy)
    else:
        fetch, copy = cached_path, find_latest_cached(address, CACHE_DIRECTORY)
    kind: type[OSError] = OSError
    try:
        check_reachable(address)
        return str(fetch(address))
    except FileNotFoundError:
        reason, kind = "there is no such file on the server", FileNotFoundError
    except ValueError:
        # The address is none.
        raise
    # Each package behind `cached_path` has errors of its own, with long chains of causes.
    except Exception as error:
        if copy is not None and os.path.exists(copy):
            return str(copy)
        reason = reason_of(error)
    raise kind(f"cannot fetch {address}: {reason}")


def check_reachable(address: str) -> None:
    """
    Raises `OSError` if nothing answers at an address of `http(s)://`, or at its proxy. AllenNLP
    would try for half a minute.
    """
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        return
    proxy = urllib.request.getproxies().get(parts.scheme)
    server, through = parts, ""
    if proxy is not None and not urllib.request.proxy_bypass(parts.hostname):
        server = urllib.parse.urlsplit(proxy if "//" in proxy else f"//{proxy}")
        through = f"the proxy {server.netloc.rpartition('@')[2]}: "
    port = server.port or (443 if server.scheme == "https" else 80)
    try:
        socket.create_connection((server.hostname, port), timeout=_SECONDS).close()
    except OSError as error:
        raise OSError(f"{through}{reason_of(error)}") from None


def reason_of(error: BaseException) -> str:
    """Returns the first cause of an error in one line."""
    first = error
    while cause := first.__cause__ or (None if first.__suppress_context__ else first.__context__):
        first = cause
    if isinstance(first, OSError) and first.strerror:
        return first.strerror
    text = " ".join(str(error).split())
    return f"{text:.200}" or type(error).__name__


def _download(address: str) -> str:
    if not address.startswith(("http://", "https://")):
        raise OSError(f"{address} is not an http:// or https:// address")
    path = _copy_of(address)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        torch.hub.download_url_to_file(address, str(path))
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise FileNotFoundError(address) from None
        raise
    return str(path)


def _copy_of(address: str) -> Path:
    name = f"{hashlib.sha256(address.encode()).hexdigest()}.file"
    return Path(torch.hub.get_dir(), "elmo_tasks", name)

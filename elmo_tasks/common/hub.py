import functools
import hashlib
import io
import os
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.json_text import parse_json

# Only the files of a biLM or of a published model are fetched, and all are read as data. Nothing
# else of a repository reaches this machine.
_DATA_FILE = re.compile(
    r"(options|mix|config)\.json|weights\.(hdf5|safetensors)|softmax\.safetensors|"
    r"softmax_words\.txt|vocab\.txt|vocabulary/[^/\0]+\.txt"
)

# No part of a name begins with a dot, so no name leads out of the cache.
_NAME = re.compile(
    r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>\w[\w.-]*(/\w[\w.-]*)*))?"
)

# `a/b` is the path of a file if it ends with one of these suffixes.
_FILE = re.compile(r"\.(csv|gz|h5|hdf5|json|jsonl|jsonnet|safetensors|th|tsv|txt|xz|zip)$")

# A commit is named by a SHA-1, a file by its hash: SHA-256 if it is large, otherwise git's SHA-1.
_SHA1, _SHA256 = _KINDS = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")

_BLOCK = 2**20

# The maximum size of a repository's data files: several times the largest biLM with its softmax.
_MOST_BYTES = 8 * 10**9

# The maximum size of the list of a repository's files, in bytes. A file takes about 300 bytes.
_MOST_LISTED = 10**7


def is_hub_name(name: str) -> bool:
    """
    Returns whether this is the name of a repository on the hub, `owner/name` or
    `owner/name@revision`. A name without a revision counts as a path if a file or folder has this
    name, or if there is a folder `owner`.
    """
    match = _NAME.fullmatch(name)
    if match is None or os.path.exists(name):
        return False
    return match["revision"] is not None or not (
        _FILE.search(name) or os.path.isdir(name.partition("/")[0])
    )


@functools.cache
def hub_folder(name: str) -> str:
    """
    Fetches the data files of a repository on the Hugging Face hub on first use, and returns their
    local folder. Needs the package `huggingface_hub`. Its environment variables apply:
    `HF_ENDPOINT` is the address of another hub, and `HF_HOME` the folder of the cache. With
    `HF_HUB_OFFLINE=1`, or if the hub cannot be reached, copies in the cache are used.

    The content of each file is compared with its hash. A revision is a branch, a tag or a commit,
    by default the branch `main`; only a commit always names the same files. A process asks the hub
    once for each name, so all files that it reads are of one commit.

    # Raises

    `ConfigurationError`: The repository or revision is missing or cannot be reached, or a file is
        damaged.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ConfigurationError(f"{name!r} is not the name of a repository, owner/name@revision")
    try:
        import huggingface_hub  # noqa: F401
    except ModuleNotFoundError:
        raise ConfigurationError(
            f"there is no file or folder {name}, and fetching a repository of this name from the "
            "hub needs the package huggingface_hub"
        ) from None
    try:
        folder = _fetched(match["repo"], match["revision"] or "main")
    except ConfigurationError:
        raise
    # Versions of huggingface_hub, and the packages that it uses, raise different errors.
    except Exception as error:
        raise ConfigurationError(
            f"there is no file or folder {name}, and it cannot be fetched from the hub: "
            f"{_reason(error)}"
        ) from error
    _check_hashes(folder)
    return str(folder)


def _reason(error: Exception) -> str:
    """Returns why a repository could not be fetched."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403, 404):
        # The hub gives a stranger the same answer for a private repository as for a missing one.
        return "there is no such repository or revision, or it is not public"
    # An error of this machine, such as a full disk, has an `errno`; an error of a request has none.
    is_local = getattr(error, "errno", None) is not None
    if status is None and not is_local and not isinstance(error, ConnectionError | ValueError):
        return f"{os.environ.get('HF_ENDPOINT', 'huggingface.co')} cannot be reached"
    return " ".join(str(error).split())


def _fetched(repo: str, revision: str) -> Path:
    """
    Returns the folder of a revision in the cache of huggingface_hub. The package would write to any
    path that the hub gives as a hash. So this function writes to the cache, and the package only
    reads it.
    """
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.file_download import repo_folder_name

    cache = Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=repo, repo_type="model"))
    try:
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
            raise ConnectionError("HF_HUB_OFFLINE is set")
        # The package itself reads this variable only when it is imported.
        api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
        about = _about(api, repo, revision)
    except Exception as error:
        try:
            commit = Path(snapshot_download(repo, revision=revision, local_files_only=True)).name
        except Exception:
            raise error from None
        return cache / "snapshots" / _hash_name(commit, _SHA1)
    folder = cache / "snapshots" / _hash_name(about.sha, _SHA1)
    files = [file for file in about.siblings or () if _DATA_FILE.fullmatch(file.rfilename)]
    sizes = [file.size if type(file.size) is int else -1 for file in files]
    if min(sizes, default=0) < 0 or sum(sizes) > _MOST_BYTES:
        raise ConfigurationError(
            f"{repo} is not fetched: its data files have more than {_MOST_BYTES:,} bytes, or "
            "their sizes are unknown"
        )
    for file in files:
        hash, kind = (file.lfs.sha256, _SHA256) if file.lfs else (file.blob_id, _SHA1)
        blob = cache / "blobs" / _hash_name(hash, kind)
        if not blob.exists():
            _download(api, repo, folder.name, file, blob, kind)
        link = folder / file.rfilename
        link.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(link):
            _link(blob, link)
    folder.mkdir(parents=True, exist_ok=True)
    if revision != folder.name:
        with atomic_write(cache / "refs" / revision) as aside:
            aside.write_text(folder.name)
    return folder


def _link(blob: Path, link: Path) -> None:
    """Links to a file of the cache, or copies the file where this machine allows no links."""
    try:
        link.symlink_to(os.path.relpath(blob, link.parent))
    # On Windows, links need a right that most users lack.
    except OSError:
        with atomic_write(link) as aside:
            shutil.copyfile(blob, aside)


def _about(api: Any, repo: str, revision: str) -> Any:
    """
    Returns what `HfApi.model_info` returns, but reads at most `_MOST_LISTED` bytes of an answer.
    """
    from huggingface_hub import ModelInfo, constants
    from huggingface_hub.utils import get_session

    # `http_get` tries for 20 seconds to reach a hub that is not there.
    get_session().head(api.endpoint, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    address = f"{api.endpoint}/api/models/{repo}/revision/{quote(revision, safe='')}?blobs=true"
    answer = io.BytesIO()
    written = _Bounded(answer, _MOST_LISTED)
    _get(address, written, f"files of {repo}")
    written.flush()
    return ModelInfo(**parse_json(answer.getvalue().decode()))


def _get(address: str, written: "_Bounded", name: str) -> None:
    """Fetches what is at an address. The progress bar shows `name`."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    # With HF_HUB_ENABLE_HF_TRANSFER=1, another package would write the file without a bound.
    by_other_package = getattr(constants, "HF_HUB_ENABLE_HF_TRANSFER", False)
    constants.HF_HUB_ENABLE_HF_TRANSFER = False
    try:
        http_get(address, written, headers=build_hf_headers(), displayed_filename=name)
    finally:
        constants.HF_HUB_ENABLE_HF_TRANSFER = by_other_package


def _download(
    api: Any, repo: str, commit: str, file: Any, blob: Path, kind: re.Pattern[str]
) -> None:
    from huggingface_hub import hf_hub_url

    name = file.rfilename
    address = hf_hub_url(repo, name, revision=commit, endpoint=api.endpoint)
    with atomic_write(blob) as aside:
        with _Bounded(io.FileIO(aside, "w"), file.size) as written:
            _get(address, written, name)
        if _hash(aside, kind) != blob.name:
            raise ConfigurationError(f"{name} of {repo} was damaged on its way: fetch it again")


class _Bounded(io.BufferedWriter):
    """A file of at most `most` bytes."""

    def __init__(self, file: Any, most: int) -> None:
        super().__init__(file)
        self._most = most

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self._most:
            raise ConfigurationError(f"the hub sends more than {self._most:,} bytes")
        return super().write(data)


def _hash_name(hash: Any, kind: re.Pattern[str]) -> str:
    """Returns a hash from the hub. Raises `ConfigurationError` if it is not a hash."""
    if not isinstance(hash, str) or not kind.fullmatch(hash):
        raise ConfigurationError(f"the hub gives {hash!r:.80}, which is not a hash")
    return hash


def _check_hashes(folder: Path) -> None:
    """
    Checks that each data file is a link to a file of the cache, or a copy of such a file, and that
    the cached file is named by its own hash. Otherwise raises `ConfigurationError`.
    """
    blobs = folder.resolve().parents[1] / "blobs"
    for path in folder.rglob("*"):
        if (
            path.is_dir()
            and not path.is_symlink()
            or not _DATA_FILE.fullmatch(path.relative_to(folder).as_posix())
        ):
            continue
        if not path.is_symlink() and any((blobs / _hash(path, kind)).exists() for kind in _KINDS):
            continue
        blob = path.resolve()
        kind = next((kind for kind in _KINDS if kind.fullmatch(blob.name)), None)
        if kind is None or blob.parent != blobs:
            raise ConfigurationError(f"{path} has no hash: remove {folder} and fetch it again")
        if _hash(blob, kind) != blob.name:
            raise ConfigurationError(
                f"{path} is damaged: its hash is not {blob.name}; remove {blob} and fetch it again"
            )


def _hash(path: Path, kind: re.Pattern[str]) -> str:
    """Returns the hash of a file."""
    if kind is _SHA1:
        # Git hashes a file with this header before the content.
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size)
    else:
        digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()

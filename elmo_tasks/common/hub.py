import functools
import hashlib
import os
import re
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError

# The files that are fetched of a repository: those of a biLM, and those of a packed model. All of
# them are read as data; nothing else of a repository reaches this machine.
DATA_FILES = (
    "options.json",
    "weights.hdf5",
    "mix.json",
    "softmax.safetensors",
    "softmax_words.txt",
    "config.json",
    "weights.safetensors",
    "vocabulary/*.txt",
)

_NAME = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>\w[\w./-]*))?")

# `a/b` is the path of a file if it ends with one of these suffixes.
_FILE = re.compile(r"\.(csv|gz|h5|hdf5|json|jsonl|jsonnet|safetensors|th|tsv|txt|xz)$")

# The cache names a file by its hash: SHA-256 of large files, and git's SHA-1 of small ones.
_HASH_LENGTHS = {64: "sha256", 40: "sha1"}

_BLOCK = 2**20


def is_hub_name(name: str) -> bool:
    """
    Returns whether this is the name of a repository on the hub, `owner/name` or
    `owner/name@revision`. A name without a revision is a path if there is a file or folder of this
    name, or a folder `owner`.
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
    Returns the local folder of a repository on the Hugging Face hub, of which the `DATA_FILES` are
    fetched on first use. This function needs the package `huggingface_hub`, whose environment
    variables apply: `HF_ENDPOINT` is the address of another hub, and `HF_HOME` the folder of the
    cache. With `HF_HUB_OFFLINE=1`, or if the hub cannot be reached, copies in the cache are used.

    The content of each file is compared with its hash. A revision is a branch, a tag or a commit,
    by default the branch `main`; only a commit always names the same files. A process asks the hub
    once for each name, so that all files that it reads are of one commit.

    # Raises

    `ConfigurationError`
        The repository or revision is not there, cannot be reached, or a file is damaged.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ConfigurationError(f"{name!r} is not the name of a repository, owner/name@revision")
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError:
        raise ConfigurationError(
            f"there is no file or folder {name}, and to fetch a repository of this name from the "
            "hub needs the package huggingface_hub"
        ) from None
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    try:
        folder = snapshot_download(
            match["repo"],
            revision=match["revision"],
            # The package itself reads this variable only when it is imported.
            endpoint=os.environ.get("HF_ENDPOINT"),
            allow_patterns=list(DATA_FILES),
            local_files_only=offline,
        )
    # Each version of huggingface_hub, and the packages below it, have errors of their own.
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ConfigurationError(
            f"there is no file or folder {name}, and it cannot be fetched from the hub: {reason}"
        ) from error
    _check_hashes(Path(folder))
    return folder


def _check_hashes(folder: Path) -> None:
    """
    Raises `ConfigurationError` if a file differs from the hash by which the cache names it. Where
    the file system has no links, the cache has no such names, and nothing is compared.
    """
    for pattern in DATA_FILES:
        for path in folder.glob(pattern):
            blob = path.resolve()
            kind = _HASH_LENGTHS.get(len(blob.name))
            if path.is_symlink() and kind and _hash(blob, kind) != blob.name:
                raise ConfigurationError(
                    f"{path} is damaged: its hash is not {blob.name}; remove {blob} and fetch it "
                    "again"
                )


def _hash(path: Path, kind: str) -> str:
    digest = hashlib.new(kind)
    if kind == "sha1":
        # This is how git names the content of a file.
        digest.update(b"blob %d\0" % path.stat().st_size)
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()

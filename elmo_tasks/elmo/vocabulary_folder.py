import os
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular

# The most bytes and lines of all files together. The largest files of word vectors have fewer
# words. A vocabulary of this size takes about a gigabyte of memory.
MAX_BYTES, MAX_LINES = 10**8, 5 * 10**6

_BLOCK = 2**20


def check_vocabulary(folder: str | os.PathLike, archive: str) -> None:
    """
    Checks the folder `vocabulary` of a model before AllenNLP reads it.

    # Raises

    `ConfigurationError`: There is no such folder. Or it holds something other than files, a link
        that leads out of the model (see `check_inside`), or more than `MAX_BYTES` or `MAX_LINES`.
    """
    vocabulary = Path(folder, "vocabulary")
    if not vocabulary.is_dir():
        raise ConfigurationError(f"{archive} has no folder vocabulary")
    num_bytes = num_lines = 0
    for path in [vocabulary, *sorted(vocabulary.iterdir())]:
        where = f"{archive}: {path.relative_to(folder)}"
        check_inside(path, folder, archive)
        if path == vocabulary:
            continue
        # AllenNLP empties the file `.lock`, so it must not be a link to another file.
        if path.name == ".lock" and path.is_symlink():
            raise ConfigurationError(f"{where} is a link")
        check_regular(path)
        num_bytes += path.stat().st_size
        if num_bytes <= MAX_BYTES:
            num_lines += _num_lines(path)
        if num_bytes > MAX_BYTES or num_lines > MAX_LINES:
            raise ConfigurationError(
                f"{where} makes a vocabulary of more than {MAX_BYTES:,} bytes or {MAX_LINES:,} "
                "lines"
            )


def check_inside(path: Path, folder: str | os.PathLike, archive: str) -> None:
    """
    Raises `ConfigurationError` for a link that leads out of the folder of a model. The links of a
    hub repository may lead to the `blobs` that the hub's cache keeps for it.
    """
    home = Path(folder).resolve()
    homes = [home, home.parents[1] / "blobs"] if home.parent.name == "snapshots" else [home]
    try:
        target = path.resolve()
    except RuntimeError as error:
        raise ConfigurationError(
            f"{archive}: {path.relative_to(folder)} is a link to itself"
        ) from error
    if not any(target.is_relative_to(each) for each in homes):
        raise ConfigurationError(
            f"{archive}: {path.relative_to(folder)} is a link out of the folder of the model"
        )


def _num_lines(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))

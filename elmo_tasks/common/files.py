import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[Path]:
    """
    Yields a temporary path in the folder of `path` to write to, and renames it to `path` if the
    block ends without an error, so that the file appears whole or not at all. Nothing is left of a
    block that fails.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        # `mkstemp` makes the file readable by its owner only; give it the usual permissions.
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(0o666 & ~umask)
        with open(aside, "rb") as written:
            os.fsync(written.fileno())
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def remove_leftovers(*paths: str | os.PathLike) -> None:
    """
    Removes the temporary files that killed processes left beside these paths in `atomic_write`. No
    process may be writing one of the paths.
    """
    for path in map(Path, paths):
        for aside in path.parent.glob(f".{glob.escape(path.name)}.*"):
            aside.unlink(missing_ok=True)

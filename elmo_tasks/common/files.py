import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_aside(path: str | os.PathLike) -> Iterator[Path]:
    """
    Gives a path in the folder of `path` to write to, and renames it to `path` when the block ends
    well; where it does not, nothing is left. The file thus appears whole or not at all.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        # A temporary file is readable by its owner alone; this one is an ordinary file.
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(0o666 & ~umask)
        with open(aside, "rb") as written:
            os.fsync(written.fileno())
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)

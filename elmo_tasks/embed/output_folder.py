import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write


class OutputFolder:
    """
    A folder that files are written to, on a disk of this machine or at an address that fsspec
    knows, such as `s3://bucket/folder`. A file appears whole or not at all.

    # Parameters

    folder: A path, or an address with `://`. The folder is made with its first file.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.name = os.fspath(folder).rstrip("/")

    @property
    def is_local(self) -> bool:
        return "://" not in self.name

    def names(self) -> set[str]:
        """Returns the names of all files."""
        if self.is_local:
            return set(os.listdir(self.name)) if os.path.isdir(self.name) else set()
        system, folder = self._system()
        if not system.exists(folder):
            return set()
        return {path.rpartition("/")[2] for path in system.ls(folder, detail=False)}

    @contextmanager
    def write(self, name: str) -> Iterator[Path]:
        """Yields a local path to write a file to; see `atomic_write`."""
        if self.is_local:
            with atomic_write(Path(self.name, name)) as aside:
                yield aside
            return
        system, folder = self._system()
        with tempfile.TemporaryDirectory() as local:
            aside = Path(local, name)
            yield aside
            system.makedirs(folder, exist_ok=True)
            # Some file systems show a file before it is whole, so it is sent under another name.
            sent = f"{folder}/.{name}.{os.path.basename(local)}"
            system.put_file(str(aside), sent)
            system.mv(sent, f"{folder}/{name}")

    @contextmanager
    def read(self, name: str) -> Iterator[Path]:
        """Yields a local path that has the content of a file."""
        if self.is_local:
            yield Path(self.name, name)
            return
        system, folder = self._system()
        with tempfile.TemporaryDirectory() as local:
            system.get_file(f"{folder}/{name}", str(Path(local, name)))
            yield Path(local, name)

    def remove(self, name: str) -> None:
        if self.is_local:
            Path(self.name, name).unlink(missing_ok=True)
        else:
            system, folder = self._system()
            system.rm_file(f"{folder}/{name}")

    def free_bytes(self) -> float:
        """Returns the free bytes of the disk where files are first written."""
        return shutil.disk_usage(self.name if self.is_local else tempfile.gettempdir()).free

    def _system(self) -> tuple[Any, str]:
        # fsspec is always installed, because PyTorch requires it.
        import fsspec

        try:
            return fsspec.core.url_to_fs(self.name)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f"{self.name} cannot be opened: {error}") from error

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.text import parse_json

# Readers of a folder of Parquet files ignore names that begin with an underscore.
MANIFEST, ABOUT = "_manifest.json", "_about.json"


class Parts:
    """
    A folder with a file for each part of an output, named by the index of the part and a hash of
    its sentences. A file appears whole or not at all. So several processes and machines may write,
    and after an interruption the names tell which parts are missing.

    # Parameters

    folder: A path, or an address that fsspec knows, such as `s3://bucket/folder`. It is made with
        its first file.
    about: The settings that the parts depend on, by name. Parts of an earlier run with the same
        settings are used.

    # Raises

    `ConfigurationError`: The folder was begun with another `about`, or has other files.
    """

    def __init__(self, folder: str | os.PathLike, about: dict[str, Any]) -> None:
        self.folder = os.fspath(folder).rstrip("/")
        self._about = about
        system, inside = _system(self.folder)
        paths = system.ls(inside, detail=False) if system.exists(inside) else []
        names = set(map(os.path.basename, paths))
        if ABOUT in names:
            with part_file(self.folder, ABOUT) as path:
                begun = parse_json(path.read_text(encoding="utf-8"))
            if differ := [name for name in about if begun.get(name) != about[name]]:
                self._refuse(" and another ".join(differ))
        elif any(not name.startswith(".") for name in names):
            raise ConfigurationError(f"{folder} has files of something else; use another folder")
        else:
            self._write_json(ABOUT, about)
        # The file of each part.
        self._found = {int(name.split("-")[1]): name for name in names if name.startswith("part-")}
        for name in names:
            # A killed process left this file. Another process may be removing it, too.
            if name.startswith(".part-"):
                with suppress(FileNotFoundError):
                    system.rm_file(f"{inside}/{name}")

    def has(self, index: int, name: str) -> bool:
        """Returns whether a part has its file, `part-INDEX-HASH` with a suffix."""
        found = self._found.get(index)
        if found not in (None, name):
            self._refuse(f"text: {found} has other sentences")
        return found == name

    @contextmanager
    def write(self, name: str) -> Iterator[Path]:
        """Yields a local path to write to. The file gets its name at the end of the block."""
        if _is_local(self.folder):
            with atomic_write(Path(self.folder, name)) as aside:
                yield aside
            return
        system, folder = _system(self.folder)
        with tempfile.TemporaryDirectory() as local:
            aside = Path(local, name)
            yield aside
            system.makedirs(folder, exist_ok=True)
            # Some file systems show a file before it is whole, so it is sent under another name.
            sent = f"{folder}/.{name}.{os.path.basename(local)}"
            system.put_file(str(aside), sent)
            system.mv(sent, f"{folder}/{name}")

    def finish(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Writes the manifest, and returns it. Call `has` for every part first."""
        for index, name in self._found.items():
            if index >= len(manifest["parts"]):
                self._refuse(f"text: {name} is not in this text")
        manifest = {"complete": True, **self._about, **manifest}
        self._write_json(MANIFEST, manifest)
        return manifest

    def _refuse(self, difference: str) -> NoReturn:
        raise ConfigurationError(
            f"{self.folder} was begun with another {difference}; use the same settings and text as "
            "then, or remove the folder"
        )

    def _write_json(self, name: str, content: dict[str, Any]) -> None:
        with self.write(name) as path:
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


@contextmanager
def part_file(folder: str | os.PathLike, name: str) -> Iterator[Path]:
    """
    Yields a local path with the content of a file. Raises `FileNotFoundError` if it is missing.
    """
    folder = os.fspath(folder).rstrip("/")
    if _is_local(folder):
        yield Path(folder, name)
        return
    system, inside = _system(folder)
    with tempfile.TemporaryDirectory() as local:
        system.get_file(f"{inside}/{name}", str(Path(local, name)))
        yield Path(local, name)


def _is_local(folder: str) -> bool:
    return "://" not in folder


def _system(folder: str) -> tuple[Any, str]:
    # fsspec is always installed, because PyTorch requires it.
    import fsspec

    if _is_local(folder):
        # fsspec would give a tilde and two colons a meaning that they have nowhere else here.
        return fsspec.filesystem("file"), os.path.abspath(folder)
    try:
        return fsspec.core.url_to_fs(folder)
    except (ImportError, ValueError) as error:
        raise ConfigurationError(f"{folder} cannot be opened: {error}") from error

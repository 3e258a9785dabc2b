import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.text import parse_json

logger = logging.getLogger(__name__)

# Readers of a folder of Parquet files ignore names that begin with an underscore.
MANIFEST, ABOUT = "_manifest.json", "_about.json"

# The name of a part: its index, a hash of its sentences, and the checksum of the file.
_PART = re.compile(r"part-(\d{6,})-([0-9a-f]{16})(?:-([0-9a-f]{16}))?(\.\w+)")

# The remains of a file that a killed process was writing.
_UNFINISHED = re.compile(rf"\.({_PART.pattern}|_about\.json|_manifest\.json)\.\w+|\.whole\.hdf5")


class Parts:
    """
    A folder with a file for each part of an output. The name of a file has the index of the part, a
    hash of its sentences and a checksum of the file, and a file appears whole or not at all. So
    several processes and machines may write, and after an interruption the names show which parts
    are missing or damaged. Files of other names are left alone.

    # Parameters

    folder: A path, or an address that fsspec knows, such as `s3://bucket/folder`. It is made with
        its first file.
    about: The settings that the parts depend on, by name. Parts that an earlier run with the same
        settings wrote are used again.
    force: Whether parts with other settings or of another text are replaced.

    # Raises

    `ConfigurationError`: The folder has other files. Or `force` is not given, and the folder was
        begun with another `about`.
    """

    def __init__(
        self, folder: str | os.PathLike, about: dict[str, Any], force: bool = False
    ) -> None:
        self.folder = os.fspath(folder).rstrip("/")
        self._about = about
        self._force = force
        names = self._names()
        old_about = self._read_about() if ABOUT in names else None
        if old_about is None and any(not name.startswith(".") for name in names):
            raise ConfigurationError(
                f"{folder} has files that elmo-tasks embed did not write; use another folder"
            )
        differ = [
            name for name in about if old_about is not None and old_about.get(name) != about[name]
        ]
        if differ:
            self._refuse_or_remove(" and another ".join(differ), names)
        if differ or old_about is None:
            self._write_json(ABOUT, about)
        # The files of each part. Two processes may have written the same part.
        self._names_of: dict[int, list[str]] = {}
        for name in sorted(self._names()):
            if part := _PART.fullmatch(name):
                self._names_of.setdefault(int(part[1]), []).append(name)
            elif _UNFINISHED.fullmatch(name):
                self._remove(name)

    def has(self, index: int, name: str) -> bool:
        """
        Returns whether the file of a part is there. `name` is the name of the file without the
        checksum. A damaged file, whose content has another checksum, is removed.
        """
        for file in list(self._names_of.get(index, ())):
            if _without_checksum(file) != name:
                self._refuse_or_remove(f"text: {file} has other sentences", [file])
            else:
                with part_file(self.folder, file) as path:
                    if is_whole(path):
                        return True
                logger.warning("%s/%s is damaged, and is computed again", self.folder, file)
                self._remove(file)
            self._names_of[index].remove(file)
        return False

    @contextmanager
    def write(self, name: str) -> Iterator[Path]:
        """
        Yields a local path to write to. At the end of the block, the file gets its final name. The
        name of a part ends with the checksum.
        """
        if _is_local(self.folder):
            with atomic_write(Path(self.folder, name), partial(_final_name, name)) as aside:
                yield aside
            return
        system, folder = _system(self.folder)
        with tempfile.TemporaryDirectory() as local:
            aside = Path(local, name)
            yield aside
            system.makedirs(folder, exist_ok=True)
            # Some file systems show a file before it is whole, so it is sent under another name.
            copy = f"{folder}/.{name}.{os.path.basename(local)}"
            system.put_file(str(aside), copy)
            system.mv(copy, f"{folder}/{_final_name(name, aside)}")

    def finish(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """
        Writes the manifest with the names of the files, and returns it. Call `has` for every part
        first.
        """
        files: dict[str, str] = {}
        for name in sorted(self._names()):
            if part := _PART.fullmatch(name):
                if int(part[1]) >= len(manifest["parts"]):
                    self._refuse_or_remove(f"text: {name} is not in this text", [name])
                elif files.setdefault(_without_checksum(name), name) != name:
                    # Two processes have computed this part, with other rounding.
                    self._remove(name)
        if files_lost := [part["file"] for part in manifest["parts"] if part["file"] not in files]:
            raise ConfigurationError(
                f"{self.folder}/{files_lost[0]} is not there any more: run the same command again"
            )
        parts = [{**part, "file": files[part["file"]]} for part in manifest["parts"]]
        manifest = {"complete": True, **self._about, **manifest, "parts": parts}
        self._write_json(MANIFEST, manifest)
        return manifest

    def remove(self) -> None:
        """Removes all files that this class wrote, and the folder if nothing else is in it."""
        self._remove_own(self._names())
        self._remove(ABOUT)
        with suppress(OSError):
            os.rmdir(self.folder)

    def _names(self) -> set[str]:
        system, inside = _system(self.folder)
        # Others may have written to the folder since it was listed.
        system.invalidate_cache()
        paths = system.ls(inside, detail=False) if system.exists(inside) else []
        return set(map(os.path.basename, paths))

    def _read_about(self) -> dict[str, Any]:
        """Returns the settings that the folder was begun with."""
        with part_file(self.folder, ABOUT) as path:
            try:
                about = parse_json(path.read_text(encoding="utf-8"))
            except ValueError:
                about = None
        if not isinstance(about, dict) or not about.keys() >= {"embedding", "biLM"}:
            raise ConfigurationError(
                f"{self.folder} has files that elmo-tasks embed did not write, such as "
                f"{ABOUT}; use another folder"
            )
        return about

    def _refuse_or_remove(self, difference: str, names: Iterable[str]) -> None:
        if not self._force:
            raise ConfigurationError(
                f"{self.folder} was begun with another {difference}; use the same settings and "
                "text as then, or replace it with --force"
            )
        # The manifest would name parts that are not there any more.
        self._remove_own([MANIFEST, *names])

    def _remove_own(self, names: Iterable[str]) -> None:
        for name in names:
            if name == MANIFEST or _PART.fullmatch(name) or _UNFINISHED.fullmatch(name):
                self._remove(name)

    def _remove(self, name: str) -> None:
        system, inside = _system(self.folder)
        # Another process may be removing it, too.
        with suppress(FileNotFoundError):
            system.rm_file(f"{inside}/{name}")

    def _write_json(self, name: str, content: dict[str, Any]) -> None:
        with self.write(name) as path:
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def is_whole(path: str | os.PathLike) -> bool:
    """Returns whether the content of a part has the checksum of its name."""
    part = _PART.fullmatch(os.path.basename(path))
    return part is not None and part[3] == _checksum(path)


def _checksum(path: str | os.PathLike) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=8)).hexdigest()


def _final_name(name: str, path: Path) -> str:
    """Returns the final name of a file. The name of a part gets the checksum of the file."""
    stem, suffix = os.path.splitext(name)
    return f"{stem}-{_checksum(path)}{suffix}" if name.startswith("part-") else name


def _without_checksum(name: str) -> str:
    return _PART.sub(r"part-\1-\2\4", name)


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

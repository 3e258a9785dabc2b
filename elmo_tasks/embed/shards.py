import errno
import json
import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import h5py
import numpy

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.embed.output_folder import OutputFolder
from elmo_tasks.embed.parts import Part
from elmo_tasks.embed.whole_file import DATASET_BYTES

Array = numpy.ndarray

# Readers of a folder of Parquet files ignore names that begin with an underscore.
MANIFEST, ABOUT = "_manifest.json", "_about.json"

FORMATS = ("parquet", "hdf5")


class Shards:
    """
    A folder with the vectors of a text, one file for each part of the text. The name of a file has
    the index of the part and a hash of its sentences. A file gets its name when it is whole, so
    several processes and machines may write. After an interruption, the names tell which parts are
    missing. The manifest is written last.

    # Parameters

    folder: A path or an address (see `OutputFolder`) that all processes can reach.
    about: What the vectors depend on, by names: `format` (`parquet` or `hdf5`), `embedding`,
        `num_layers`, `dim` and others. Files of an earlier run with the same `about` are used.
    begin_anew (default `False`): Whether files of an earlier run with another `about` or another
        text are removed. If not, they raise `ConfigurationError`.
    """

    def __init__(
        self, folder: str | os.PathLike, about: dict[str, Any], begin_anew: bool = False
    ) -> None:
        self.about = about
        self._output = OutputFolder(folder)
        self._begin_anew = begin_anew
        names = self._output.names()
        if names and ABOUT not in names and any(not name.startswith(".") for name in names):
            raise ConfigurationError(f"{folder} has files that are not shards; use another folder")
        begun = _read_json(self._output, ABOUT) if ABOUT in names else None
        if begun not in (None, about) and not begin_anew:
            differ = [name for name in about if (begun or {}).get(name) != about[name]]
            raise ConfigurationError(
                f"{folder} was begun with another {' and another '.join(differ)}; use the same "
                "settings as then, or start again with --force"
            )
        # The file of each part.
        self._found: dict[int, str] = {}
        for name in names:
            # Killed processes left files whose names begin with a dot.
            if name.startswith(".part-") or (begun != about and name.startswith("part-")):
                self._output.remove(name)
            elif name.startswith("part-"):
                self._found[int(name.split("-")[1])] = name
        if begun != about:
            self._write_json(ABOUT, about)

    @property
    def folder(self) -> str:
        """The path or address of the folder."""
        return self._output.name

    def has(self, part: Part) -> bool:
        """
        Returns whether a part has its file. Raises `ConfigurationError` if the file has other
        sentences.
        """
        name, found = self.file_name(part), self._found.get(part.index)
        if found not in (None, name):
            if not self._begin_anew:
                raise ConfigurationError(
                    f"{self.folder} was begun with another text: {found} has other sentences; use "
                    "the same text as then, or start again with --force"
                )
            self._output.remove(str(found))
        return found == name and self._is_whole(name)

    def add(self, part: Part, arrays: Iterable[Array]) -> None:
        """
        Writes the file of a part.

        # Parameters

        arrays: The vectors of each sentence, in float32: shape (num_layers, tokens, dim), or for
            one layer (tokens, dim).

        # Raises

        `OSError`: The disk is full, or the folder cannot be reached.
        `ConfigurationError`: A value is too large for the float16 of Parquet.
        """
        with self._output.write(self.file_name(part)) as path:
            if self.about["format"] == "parquet":
                # pyarrow is imported only when it is needed.
                from elmo_tasks.embed.parquet import write_parquet

                write_parquet(path, part, arrays, *self._layout)
            else:
                self._refuse_full_disk(part)
                write_hdf5(path, part, arrays)

    def finish(self, manifest: dict[str, Any]) -> None:
        """Writes the manifest. Call `has` for all parts before."""
        surplus = [name for index, name in self._found.items() if index >= len(manifest["parts"])]
        if surplus and not self._begin_anew:
            raise ConfigurationError(
                f"{self.folder} was begun with a longer text: {min(surplus)} is not in this text; "
                "use the same text as then, or start again with --force"
            )
        for name in surplus:
            self._output.remove(name)
        self._write_json(MANIFEST, {"complete": True, **self.about, **manifest})

    def file_name(self, part: Part) -> str:
        """Returns the name of a part's file."""
        text = "\n".join([str(part.ids), *map(" ".join, part.sentences)])
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        return f"part-{part.index:06}-{digest}.{self.about['format']}"

    def _is_whole(self, name: str) -> bool:
        """
        Returns whether HDF5 can open a file on a disk. HDF5 refuses a file that was cut short.
        """
        if self.about["format"] != "hdf5" or not self._output.is_local:
            return True
        try:
            h5py.File(Path(self.folder, name), "r").close()
        except OSError:
            return False
        return True

    @property
    def _layout(self) -> tuple[str, int]:
        return self.about["embedding"], self.about["num_layers"]

    def _refuse_full_disk(self, part: Part) -> None:
        """Raises `OSError` if the disk is too full. Otherwise HDF5 would end the process."""
        embedding, num_layers = self._layout
        width = self.about["dim"] * (num_layers if embedding == "all" else 1)
        needed = 4 * width * part.num_tokens + DATASET_BYTES * len(part.ids)
        if self._output.free_bytes() < needed:
            full = os.strerror(errno.ENOSPC)
            raise OSError(errno.ENOSPC, full, f"{self.folder}/{self.file_name(part)}")

    def _write_json(self, name: str, content: dict[str, Any]) -> None:
        with self._output.write(name) as path:
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_dataset(file: h5py.File, name: str, array: Array) -> None:
    """Writes a dataset as `create_dataset` does, but faster."""
    space, dtype = h5py.h5s.create_simple(array.shape), h5py.h5t.py_create(array.dtype)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    # As in h5py, no times are stored: the same text makes the same file, byte for byte.
    plist.set_obj_track_times(False)
    dataset = h5py.h5d.create(file.id, name.encode(), dtype, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array)


def write_hdf5(path: Path, part: Part, arrays: Iterable[Array]) -> None:
    """
    Writes the sentences of a part to an HDF5 file of the form that `join` makes. Datasets are named
    by the sentences' indices in the whole text. The dataset `sentences` has the sentences.
    """
    names, sentences = list(map(str, part.ids)), list(map(" ".join, part.sentences))
    with h5py.File(path, "w") as file:
        for name, array in zip(names, arrays):
            write_dataset(file, name, numpy.ascontiguousarray(array, numpy.float32))
        index = file.create_dataset("sentence_to_index", (1,), h5py.string_dtype())
        index[0] = json.dumps(dict(zip(sentences, names)))
        file.create_dataset("sentences", data=sentences, dtype=h5py.string_dtype())


def read_manifest(folder: str | os.PathLike) -> dict[str, Any]:
    """
    Returns the manifest of a folder of shards. Raises `ConfigurationError` if the folder has no
    manifest, and so is not complete.
    """
    output = OutputFolder(folder)
    if MANIFEST not in output.names():
        raise ConfigurationError(
            f"{folder} has no {MANIFEST}: it is not complete; run the same elmo-tasks embed again"
        )
    return _read_json(output, MANIFEST)


def read_vectors(folder: str | os.PathLike) -> Iterator[tuple[int, list[str], Array]]:
    """
    Yields the sentences and vectors of a folder of shards, in the order of the text and in bounded
    memory.

    # Parameters

    folder: A path or an address.

    # Returns

    `Iterator[tuple[int, list[str], numpy.ndarray]]`: The index of each sentence in the text, its
        tokens, and its vectors: shape (num_layers, tokens, dim), or for one layer (tokens, dim);
        float16 from Parquet, float32 from HDF5.

    # Raises

    `ConfigurationError`: The folder is not complete.
    """
    manifest, output = read_manifest(folder), OutputFolder(folder)
    for part in manifest["parts"]:
        with output.read(part["file"]) as path:
            if manifest["format"] == "parquet":
                from elmo_tasks.embed.parquet import read_parquet

                layout = (manifest[name] for name in ("embedding", "num_layers", "dim"))
                yield from read_parquet(path, *layout)
            else:
                yield from _read_hdf5(path)


def _read_hdf5(path: Path) -> Iterator[tuple[int, list[str], Array]]:
    with h5py.File(path, "r") as file:
        ids = sorted(int(name) for name in file if name.isdecimal())
        for index, sentence in zip(ids, file["sentences"].asstr()[...]):
            yield index, sentence.split(), file[str(index)][...]


def _read_json(output: OutputFolder, name: str) -> dict[str, Any]:
    with output.read(name) as path:
        return parse_json(path.read_text(encoding="utf-8"))

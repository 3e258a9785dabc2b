import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import h5py
import numpy

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write
from elmo_tasks.embed.parts import Part

Array = numpy.ndarray

_ABOUT, _WHOLE = "about.json", "whole.hdf5"

# An estimate, rather too large, of what HDF5 and the index need for a sentence beside its values.
DATASET_BYTES = 1000

_ITEM_BYTES = numpy.dtype(numpy.float32).itemsize


class EmbeddingFile:
    """
    An HDF5 file of ELMo vectors, as `allennlp elmo` wrote it, while it is being made. It has a
    dataset of float32 for each sentence, named by the index of the sentence: `0`, `1`, ...; and the
    dataset `sentence_to_index`, a JSON object from sentences to these names.

    If a process is killed while it writes an HDF5 file, the file is lost. The arrays are therefore
    saved as parts in a folder beside the file, `PATH.partial`, and the HDF5 file is made of them at
    the end. Parts and file get their names when they are complete.

    # Parameters

    path : `Path`
        The path of the HDF5 file.
    about : `dict[str, str]`
        Everything that the vectors depend on. Parts of an earlier run are used if it is the same.
    begin_anew : `bool`, optional (default = `False`)
        Whether parts of an earlier run with another `about` are removed; otherwise they raise
        `ConfigurationError`.
    """

    def __init__(self, path: Path, about: dict[str, str], begin_anew: bool = False) -> None:
        self.path = path
        self.folder = path.with_name(f"{path.name}.partial")
        begun = _read_about(self.folder / _ABOUT)
        if begun not in (None, about) and not begin_anew:
            differ = [name for name in about if (begun or {}).get(name) != about[name]]
            raise ConfigurationError(
                f"{self.folder} was begun with another {' and another '.join(differ)}; use the "
                "same settings as then, or start again with --force"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        # These are files that a killed run left, and parts of other or unknown settings.
        unwanted = [*self.folder.glob(".*"), *self.folder.glob(_WHOLE)]
        if begun != about:
            unwanted += self.folder.glob("*.part")
        for file in unwanted:
            file.unlink()
        with atomic_write(self.folder / _ABOUT) as aside:
            aside.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")

    def has(self, part: Part) -> bool:
        """Returns whether a part is complete."""
        try:
            with open(self._path(part.index), "rb") as file:
                shapes = numpy.load(file)
                size = file.tell() + _ITEM_BYTES * shapes.prod(axis=1).sum()
                return len(shapes) == len(part.ids) and size == os.fstat(file.fileno()).st_size
        except (OSError, EOFError, ValueError):
            return False

    def add(self, part: Part, arrays: Iterable[Array]) -> None:
        """
        Saves the arrays of a part's sentences. Their dtype is float32 and their last two dimensions
        are tokens and width.
        """
        arrays = list(arrays)
        shapes = numpy.array([array.shape for array in arrays])
        with atomic_write(self._path(part.index)) as aside, open(aside, "wb") as file:
            numpy.save(file, shapes)
            for array in arrays:
                file.write(numpy.ascontiguousarray(array, numpy.float32).data)

    def finish(
        self, num_parts: int, num_sentences: int, sentence_to_index: dict[str, str] | None = None
    ) -> None:
        """Writes the HDF5 file from all parts, and removes them."""
        self._refuse_full_disk(num_parts, num_sentences)
        whole = self.folder / _WHOLE
        with h5py.File(whole, "w") as file:
            arrays = (array for part in range(num_parts) for array in self._arrays(part))
            for index, array in enumerate(arrays):
                write_dataset(file, str(index), array)
            if sentence_to_index is not None:
                index = file.create_dataset("sentence_to_index", (1,), h5py.string_dtype())
                index[0] = json.dumps(sentence_to_index)
        with open(whole, "rb") as written:
            os.fsync(written.fileno())
        whole.replace(self.path)
        shutil.rmtree(self.folder)

    def _path(self, part: int) -> Path:
        return self.folder / f"{part:06}.part"

    def _arrays(self, part: int) -> Iterator[Array]:
        with open(self._path(part), "rb") as file:
            for shape in numpy.load(file):
                array = numpy.empty(shape, numpy.float32)
                file.readinto(array.data)
                yield array

    def _refuse_full_disk(self, num_parts: int, num_sentences: int) -> None:
        """Raises `ConfigurationError` if the disk is too full, where HDF5 would end the process."""
        sizes = [self._path(part).stat().st_size for part in range(num_parts)]
        needed = sum(sizes) + DATASET_BYTES * num_sentences
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise ConfigurationError(
                f"{self.path} needs {needed / 1e9:.1f} GB, but only {free / 1e9:.1f} GB of the "
                "disk are free; make room and run the same command again, which goes on from here"
            )


def _read_about(path: Path) -> dict[str, str] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write_dataset(file: h5py.File, name: str, array: Array) -> None:
    """Writes a dataset as `create_dataset` does, but faster."""
    space, dtype = h5py.h5s.create_simple(array.shape), h5py.h5t.py_create(array.dtype)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    # This is the default of h5py. The same text then makes the same file, byte for byte.
    plist.set_obj_track_times(False)
    dataset = h5py.h5d.create(file.id, name.encode(), dtype, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array)

import itertools
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import h5py
import numpy

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write

Array = numpy.ndarray

_ABOUT, _WHOLE = "about.json", "whole.hdf5"

# What HDF5 and the index add to the numbers of a sentence: more than it mostly is.
_DATASET_BYTES = 1000

_ITEM_BYTES = numpy.dtype(numpy.float32).itemsize


class EmbeddingFile:
    """
    The HDF5 file that `allennlp elmo` wrote, on its way: a dataset of float32 for each sentence,
    by its number `0`, `1`, ...; and `sentence_to_index`, the JSON of an object from sentences to
    these numbers.

    An HDF5 file that is being written to when its process is killed is lost, so there is none
    until the end. Till then the arrays lie in a folder beside it, `PATH.partial`, in parts: a part
    is complete when it has its name, and the file when it has its own.

    # Parameters

    path : `Path`
        Of the file.
    about : `dict[str, str]`
        All that the numbers depend on. Parts that are there are used if it was the same for them.
    begin_anew : `bool`, optional (default = `False`)
        Whether parts of which it was not are removed; else they raise `ConfigurationError`.
    """

    def __init__(self, path: Path, about: dict[str, str], begin_anew: bool = False) -> None:
        self.path = path
        self.folder = path.with_name(f"{path.name}.partial")
        begun = _read_about(self.folder / _ABOUT)
        if begun not in (None, about) and not begin_anew:
            differ = [name for name in about if (begun or {}).get(name) != about[name]]
            raise ConfigurationError(
                f"{self.folder} was begun with another {' and another '.join(differ)}; go on as it "
                "was begun, or begin anew with --force"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        # What kills left over, and parts of another run, or of nobody knows which.
        unwanted = [*self.folder.glob(".*"), *self.folder.glob(_WHOLE)]
        if begun != about:
            unwanted += self.folder.glob("*.part")
        for file in unwanted:
            file.unlink()
        with atomic_write(self.folder / _ABOUT) as aside:
            aside.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        self._parts = list(self._complete_parts())

    @property
    def num_sentences(self) -> int:
        """Sentences in the parts that are complete: the first so many of all."""
        return sum(len(shapes) for shapes in self._parts)

    @property
    def num_tokens(self) -> int:
        """Tokens in these sentences."""
        return sum(int(shapes[:, -2].sum()) for shapes in self._parts)

    def add(self, arrays: Sequence[Array]) -> None:
        """A part: the arrays of the next sentences, of float32, tokens in the last axis but one."""
        shapes = numpy.array([array.shape for array in arrays])
        with atomic_write(self._path(len(self._parts))) as aside, open(aside, "wb") as file:
            numpy.save(file, shapes)
            for array in arrays:
                file.write(numpy.ascontiguousarray(array, numpy.float32).data)
        self._parts.append(shapes)

    def finish(self, sentence_to_index: dict[str, str] | None = None) -> None:
        """Makes the file of all parts, and removes them."""
        self._refuse_full_disk()
        whole = self.folder / _WHOLE
        with h5py.File(whole, "w") as file:
            arrays = (array for part in range(len(self._parts)) for array in self._read(part))
            for number, array in enumerate(arrays):
                _write(file, str(number), array)
            if sentence_to_index is not None:
                index = file.create_dataset("sentence_to_index", (1,), h5py.string_dtype())
                index[0] = json.dumps(sentence_to_index)
        with open(whole, "rb") as written:
            os.fsync(written.fileno())
        whole.replace(self.path)
        shutil.rmtree(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.part"

    def _complete_parts(self) -> Iterator[Array]:
        """The shapes in each, up to the first that is missing or damaged."""
        for number in itertools.count():
            try:
                with open(self._path(number), "rb") as file:
                    shapes = numpy.load(file)
                    size = file.tell() + _ITEM_BYTES * shapes.prod(axis=1).sum()
                    if size != os.fstat(file.fileno()).st_size:
                        return
            except (OSError, EOFError, ValueError):
                return
            yield shapes

    def _read(self, number: int) -> Iterator[Array]:
        with open(self._path(number), "rb") as file:
            for shape in numpy.load(file):
                array = numpy.empty(shape, numpy.float32)
                file.readinto(array.data)
                yield array

    def _refuse_full_disk(self) -> None:
        """HDF5 would end the process."""
        sizes = [self._path(number).stat().st_size for number in range(len(self._parts))]
        needed = sum(sizes) + _DATASET_BYTES * self.num_sentences
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise ConfigurationError(
                f"{self.path} needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB of the disk are "
                "free; make room, and the same command goes on from there"
            )


def _read_about(path: Path) -> dict[str, str] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _write(file: h5py.File, name: str, array: Array) -> None:
    """What `create_dataset` does, without what that takes for each."""
    space, dtype = h5py.h5s.create_simple(array.shape), h5py.h5t.py_create(array.dtype)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    # As h5py has it, so that the same text makes the same file.
    plist.set_obj_track_times(False)
    dataset = h5py.h5d.create(file.id, name.encode(), dtype, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array)

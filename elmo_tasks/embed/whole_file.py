import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import h5py

from elmo_tasks.common.errors import ConfigurationError

# The bytes that HDF5 and the index need for a sentence besides its values: a generous estimate.
DATASET_BYTES = 1000


def join(
    parts: Iterable[Path], path: Path, num_sentences: int, sentence_to_index: dict[str, str] | None
) -> None:
    """
    Joins the files of `write_hdf5` into one HDF5 file, in the form that `allennlp elmo` wrote. The
    file has a dataset of float32 for each sentence, named by the sentence's index: `0`, `1`, ...
    The dataset `sentence_to_index` is a JSON object from sentences to these names. The file appears
    when it is whole.

    # Raises

    `ConfigurationError`: The disk is too full. HDF5 itself would end the process.
    """
    parts = list(parts)
    _refuse_full_disk(parts, path, num_sentences)
    whole = parts[0].with_name(".whole.hdf5")
    with h5py.File(whole, "w") as file:
        for part in parts:
            with h5py.File(part, "r") as read:
                for index in sorted(int(name) for name in read if name.isdecimal()):
                    copy_dataset(read, str(index), file)
        if sentence_to_index is not None:
            dataset = file.create_dataset("sentence_to_index", (1,), h5py.string_dtype())
            dataset[0] = json.dumps(sentence_to_index)
    with open(whole, "r+b") as written:
        os.fsync(written.fileno())
    whole.replace(path)


def copy_dataset(source: h5py.File, name: str, target: h5py.File) -> None:
    h5py.h5o.copy(source.id, name.encode(), target.id, name.encode())


def _refuse_full_disk(parts: list[Path], path: Path, num_sentences: int) -> None:
    needed = sum(part.stat().st_size for part in parts) + DATASET_BYTES * num_sentences
    free = shutil.disk_usage(parts[0].parent).free
    if free < needed:
        raise ConfigurationError(
            f"{path} needs {needed / 1e9:.1f} GB, but only {free / 1e9:.1f} GB of the disk are "
            "free; make room and run the same command again: it goes on from here"
        )

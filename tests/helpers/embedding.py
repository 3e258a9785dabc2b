"""A small text, and what the tests of its HDF5 file need."""

from pathlib import Path
from typing import Any, NamedTuple

import h5py

LINES = [
    "The boat left the bank .",
    "Banks lend money .",
    "",
    "It 's na\u00efve / a slash : and a colon",
    "Banks lend money .",
    "   ",
    "A",
]


class Paths(NamedTuple):
    text: Path
    hdf5: Path

    @property
    def partial(self) -> Path:
        return self.hdf5.with_name("out.hdf5.partial")


def write_text(folder: Path) -> Paths:
    """Writes `LINES` to a file, and returns its path with that of an HDF5 file to write."""
    text = folder / "text.txt"
    text.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return Paths(text, folder / "out.hdf5")


def read_hdf5(path: Path) -> dict[str, Any]:
    with h5py.File(path, "r") as file:
        return {key: file[key][...] for key in file}

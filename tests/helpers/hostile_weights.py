"""Makes files of a biLM that do harm to a reader that trusts them."""

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy
import pytest
import torch

from tests.helpers.reference_bilm import random_files

# The dataset that is replaced, and its shape.
MATRIX = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_0"
SHAPE = (12, 36)


Change = Callable[[h5py.File], None]


def _replace_with(value: object) -> Change:
    """Returns a change that puts a value, or a link, in place of the dataset."""

    def change(file: h5py.File) -> None:
        del file[MATRIX]
        file[MATRIX] = value

    return change


def _create(*args: object, **settings: object) -> Change:
    """Returns a change that puts a new dataset in place of the old one."""

    def change(file: h5py.File) -> None:
        del file[MATRIX]
        file.create_dataset(MATRIX, *args, **settings)

    return change


def _external_link(file: h5py.File) -> None:
    _replace_with(h5py.ExternalLink(_other_file(file), MATRIX))(file)


def _external_group(file: h5py.File) -> None:
    del file["CNN"]
    file["CNN"] = h5py.ExternalLink(_other_file(file), "CNN")


def _external_storage(file: h5py.File) -> None:
    secret = Path(file.filename).parent / "secret"
    secret.write_bytes(bytes(range(256)) * 10)
    _create(SHAPE, "float32", external=[(str(secret), 0, 4 * 12 * 36)])(file)


def _virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(SHAPE, "float32")
    layout[:] = h5py.VirtualSource(_other_file(file), MATRIX, shape=SHAPE)
    del file[MATRIX]
    file.create_virtual_dataset(MATRIX, layout)


def _packed_bomb(file: h5py.File) -> None:
    """Has the right shape, but its only chunk unpacks to 134 MB."""
    _create(SHAPE, "float32", compression="gzip", chunks=SHAPE)(file)
    file[MATRIX].id.write_direct_chunk((0, 0), zlib.compress(bytes(2**27), 1))


def _times(file: h5py.File) -> None:
    del file[MATRIX]
    parent, _, name = MATRIX.rpartition("/")
    space = h5py.h5s.create_simple(SHAPE)
    h5py.h5d.create(file[parent].id, name.encode(), h5py.h5t.UNIX_D32LE, space)


def _nest(file: h5py.File) -> None:
    group = file
    for _ in range(3000):
        group = group.create_group("g")


def _circle(file: h5py.File) -> None:
    for index in range(20):
        file[f"again_{index}"] = file["/"]


def _odd_name(file: h5py.File) -> None:
    file.id.links.create_soft(b"\xff\xfe", b"/nowhere")


def _other_file(file: h5py.File) -> str:
    return str(random_files(Path(file.filename).parent / "other")[1])


# Each kind of file, and what its error says.
KINDS: dict[str, tuple[Change, str]] = {
    "external link": (_external_link, f"{MATRIX} is a link; links are not followed"),
    "external group": (_external_group, "CNN is a link; links are not followed"),
    "link to itself": (
        _replace_with(h5py.SoftLink(f"/{MATRIX}")),
        f"{MATRIX} is a link; links are not followed",
    ),
    "external storage": (_external_storage, "has its numbers in another file or dataset"),
    "virtual": (_virtual, "has its numbers in another file or dataset"),
    "not written": (_create(SHAPE, "float32"), f"{MATRIX} holds 0 of 1,728 bytes"),
    "no space": (_replace_with(h5py.Empty("float32")), f"{MATRIX} is empty and has no shape"),
    "large shape": (
        _create((10**6, 10**6), "float32", chunks=(1, 1000)),
        "has shape (1000000, 1000000), but the options ask for (12, 36)",
    ),
    "packed bomb": (_packed_bomb, f"{MATRIX} is compressed or cut into chunks"),
    "chunks": (_create(SHAPE, "float32", chunks=(2, 36)), f"{MATRIX} is compressed or cut into"),
    "text": (
        _replace_with(numpy.full(SHAPE, b"text")),
        f"{MATRIX} holds |S4, which are not numbers",
    ),
    "times": (_times, "cannot be read as HDF5"),
    "nested": (_nest, "it has more than 2,000 items"),
    "circle": (_circle, "it has more than 2,000 items"),
    "odd name": (_odd_name, r"\xff\xfe is a link; links are not followed"),
}


def hostile_files(folder: Path, kind: str) -> tuple[Path, Path]:
    """Writes options, and weights of one of the `KINDS`; returns their paths."""
    files = random_files(folder)
    with h5py.File(files[1], "a") as file:
        KINDS[kind][0](file)
    assert os.path.getsize(files[1]) < 5 * 10**6
    return files


def overflow(model: torch.nn.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives a mix of a model a weight that is finite, and makes its answers NaN."""
    gamma = model.get_parameter("text_embedder.input_mix.gamma")
    monkeypatch.setattr(gamma, "data", torch.full_like(gamma, 3e38))

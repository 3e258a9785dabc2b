import tempfile
from pathlib import Path
from typing import Any

import srsly

from elmo_tasks.encoder import ElmoEncoder


def open_encoder(bilm: str, place: str | None = None, **settings: Any) -> ElmoEncoder:
    if place or ".tar.gz" in bilm:
        return ElmoEncoder.from_archive(bilm, place, **settings)
    if Path(bilm).is_dir():
        files = Path(bilm, "options.json"), Path(bilm, "weights.hdf5")
        return ElmoEncoder.from_files(*files, **settings)
    return ElmoEncoder.from_name(bilm, **settings)


def save_encoder(encoder: ElmoEncoder, folder: str | Path) -> None:
    encoder.bilm.to_files(folder)


def encoder_to_bytes(encoder: ElmoEncoder) -> bytes:
    """Returns the files of `save_pretrained` as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        save_encoder(encoder, folder)
        return folder_to_bytes(folder)


def encoder_from_bytes(data: bytes, **settings: Any) -> ElmoEncoder:
    """Returns an encoder of the bytes that `encoder_to_bytes` made."""
    with tempfile.TemporaryDirectory() as folder:
        bytes_to_folder(data, folder)
        return open_encoder(folder, **settings)


def folder_to_bytes(folder: str | Path) -> bytes:
    """Returns the files of a folder as bytes."""
    return srsly.msgpack_dumps({path.name: path.read_bytes() for path in Path(folder).iterdir()})


def bytes_to_folder(data: bytes, folder: str | Path) -> None:
    """Writes the files of `folder_to_bytes`."""
    for name, content in srsly.msgpack_loads(data).items():
        # A name must not lead out of the folder.
        Path(folder, Path(name).name).write_bytes(content)

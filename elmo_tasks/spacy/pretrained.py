import tempfile
from pathlib import Path

import srsly

from elmo_tasks.elmo import ElmoEncoder


def encoder_to_bytes(encoder: ElmoEncoder) -> bytes:
    """Returns the files that `ElmoEncoder.save_pretrained` writes, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        return srsly.msgpack_dumps(
            {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        )


def encoder_from_bytes(data: bytes, device: str) -> ElmoEncoder:
    """Returns the encoder that `encoder_to_bytes` saved."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in srsly.msgpack_loads(data).items():
            # Only the last part of the name is used, so that no path leads out of the folder.
            Path(folder, Path(name).name).write_bytes(content)
        return ElmoEncoder.from_pretrained(folder, device=device)

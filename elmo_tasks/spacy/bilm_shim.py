import tempfile
from pathlib import Path

import srsly
from thinc.api import get_torch_default_device
from thinc.shims import Shim

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.elmo.store import LayerStore


class BiLmShim(Shim):
    """
    Holds a frozen biLM in a thinc model, and saves the biLM with the model. The biLM is opened at
    first use, so a saved model can be loaded where the biLM's name or path is unknown.

    # Parameters

    bilm, store: As for `tok2vec`.
    """

    _model: ElmoEncoder | None

    def __init__(self, bilm: str, store: str | None = None) -> None:
        super().__init__(None)
        self.bilm = bilm
        self.store = store

    @property
    def encoder(self) -> ElmoEncoder:
        if self._model is None:
            store = None if self.store is None else LayerStore(self.store)
            device = get_torch_default_device()
            self._model = ElmoEncoder.from_pretrained(self.bilm, store=store, device=device)
        return self._model

    def finish_update(self, optimizer) -> None:
        """Does nothing, since the biLM is frozen."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Does nothing, because the biLM is opened on the device that spaCy uses."""

    def to_bytes(self) -> bytes:
        return encoder_to_bytes(self.encoder)

    def from_bytes(self, data: bytes) -> "BiLmShim":
        self._model = encoder_from_bytes(data, device=str(get_torch_default_device()))
        return self


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

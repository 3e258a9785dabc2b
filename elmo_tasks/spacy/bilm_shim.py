from thinc.api import get_torch_default_device
from thinc.shims import Shim

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.elmo.store import LayerStore
from elmo_tasks.spacy.pretrained import encoder_from_bytes, encoder_to_bytes


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

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Union

from spacy.language import Language

from elmo_tasks.spacy.batched import BatchedPipe
from elmo_tasks.spacy.trained_model import TrainedModel


class ModelPipe(BatchedPipe):
    """
    The base class of the components that annotate docs with the answers of a trained task model.
    Such a component needs AllenNLP. It opens its model at first use. A saved pipeline contains the
    model.

    # Parameters

    nlp: The pipeline.
    name: The name of the component in the pipeline.
    model: The trained model: its name, path, address or repository, as for `elmo_tasks.load`.
    """

    # The name of the model's predictor. A subclass sets it.
    predictor: ClassVar[str]

    def __init__(self, nlp: Language, name: str, model: str) -> None:
        super().__init__(name)
        self.model = TrainedModel(model, self.predictor)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Returns the archive of the model."""
        return self.model.to_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Loads an archive."""
        self.model.from_bytes(data)
        return self

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Writes the archive of the model to a folder."""
        self.model.to_disk(path)

    def from_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Loads the archive in a folder."""
        self.model.from_disk(path)
        return self

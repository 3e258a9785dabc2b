from collections.abc import Iterable
from pathlib import Path
from typing import Union

from elmo_tasks.spacy.batched import BatchedPipe
from elmo_tasks.spacy.trained_model import TrainedModel


class ModelPipe(BatchedPipe):
    """
    A component that annotates docs with the answers of a trained model of a task, and is saved with
    the model.

    # Parameters

    name : `str`
        The name of the component in the pipeline.
    model, predictor : `str`
        As for `TrainedModel`.
    """

    def __init__(self, name: str, model: str, predictor: str) -> None:
        super().__init__(name)
        self.model = TrainedModel(model, predictor)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Returns the archive of the model."""
        return self.model.to_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Takes the model of an archive."""
        self.model.from_bytes(data)
        return self

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Writes the archive of the model to a folder."""
        self.model.to_disk(path)

    def from_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Takes the model of the archive in a folder."""
        self.model.from_disk(path)
        return self

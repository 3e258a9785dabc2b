import io
import os
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elmo_tasks.common import registration
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular, local_path
from elmo_tasks.common.files import write_whole
from elmo_tasks.elmo.known_models import model_path
from elmo_tasks.elmo.vocabulary_folder import check_inside

# The maximum number of tokens in a batch, padding included.
_BATCH_TOKENS = 2048

_ARCHIVE = "model.tar.gz"


class TrainedModel:
    """
    A trained task model in a component of spaCy. It is opened at first use, and needs AllenNLP.

    # Parameters

    model: A trained model, as for `elmo_tasks.load`.
    predictor: The registered name of the predictor that the model must have.

    # Raises

    `ConfigurationError`: At first use: the model is for another task, or is no archive.
    """

    def __init__(self, model: str, predictor: str) -> None:
        self._model = model
        self._predictor_name = predictor
        self._archive: bytes | None = None
        self._predictor: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # Another process must open the model itself.
        return {**self.__dict__, "_predictor": None}

    def predict(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the answers of the predictor to inputs in JSON."""
        return self._open().predict_batch_json(inputs)

    def answers(self, sentences: Sequence[list[str]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """
        Yields the index of each sentence and the predictor's answer to it (see
        `elmo_tasks.predictors`). The longest sentences come first, in batches of similar length.
        """
        predictor = self._open()
        for batch in batches_by_length(list(map(len, sentences)), _BATCH_TOKENS):
            inputs = [{"tokens": sentences[index]} for index in batch]
            yield from zip(batch, predictor.predict_batch_json(inputs))

    def to_bytes(self) -> bytes:
        """
        Returns the archive of the model. If the model is a folder without an archive, makes the
        archive first.
        """
        if self._archive is not None:
            return self._archive
        path = model_path(self._model)
        if not os.path.isdir(path):
            return Path(local_path(path)).read_bytes()
        archive = Path(path) / _ARCHIVE
        return archive.read_bytes() if archive.exists() else _archived(path)

    def from_bytes(self, archive: bytes) -> None:
        """Replaces the model with an archive."""
        self._archive, self._predictor = archive, None

    def to_disk(self, folder: str | Path) -> None:
        """Writes the archive to a folder."""
        write_whole(Path(folder) / _ARCHIVE, self.to_bytes())

    def from_disk(self, folder: str | Path) -> None:
        """Replaces the model with the archive in a folder."""
        self._model = str(Path(folder) / _ARCHIVE)
        self._archive = self._predictor = None

    def _open(self) -> Any:
        if self._predictor is None:
            registration.register()
            from allennlp.models import load_archive
            from allennlp.predictors import Predictor

            with tempfile.TemporaryDirectory() as folder:
                model = self._model
                if self._archive is not None:
                    model = os.path.join(folder, _ARCHIVE)
                    Path(model).write_bytes(self._archive)
                archive = load_archive(model)
            if archive.model.default_predictor != self._predictor_name:
                raise ConfigurationError(
                    f"{self._model} is a {type(archive.model).__name__}, which the predictor "
                    f"{self._predictor_name} cannot use"
                )
            self._predictor = Predictor.from_archive(archive)
        return self._predictor


def _archived(folder: str) -> bytes:
    """Makes an archive of a folder that `elmo-pack` wrote."""
    for path in Path(folder).rglob("*"):
        check_inside(path, folder, folder)
        if not path.is_dir():
            check_regular(path)
    file = io.BytesIO()
    # The files of a repository are links into a cache, so their content is archived.
    with tarfile.open(fileobj=file, mode="w:gz", dereference=True) as archive:
        for path in sorted(Path(folder).iterdir()):
            archive.add(path, path.name)
    return file.getvalue()

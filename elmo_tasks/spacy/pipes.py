import io
import multiprocessing
import os
import tarfile
import tempfile
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Union

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import minibatch

from elmo_tasks.archives.known_models import model_path
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_folder, local_path
from elmo_tasks.common.files import file_stamp, write_whole
from elmo_tasks.kernels.threads import operator_threads

_ARCHIVE = "model.tar.gz"


@contextmanager
def threads_of_this_process() -> Iterator[None]:
    """
    Makes PyTorch use one thread while the block runs, if this is a worker process, for example of
    `nlp.pipe` with `n_process`. With more threads, a forked process would wait for ever, for
    threads that only its parent has.
    """
    if multiprocessing.parent_process() is None:
        yield
    else:
        with operator_threads(1):
            yield


class DocSentence(NamedTuple):
    """A sentence of a doc, without white space tokens. `doc` is the index of the doc."""

    doc: int
    indices: list[int]
    words: list[str]


def of_docs(docs: Iterable[Doc]) -> Iterator[DocSentence]:
    """
    Yields the sentences of docs. Leaves out sentences without words. A doc without sentence
    boundaries is one sentence.
    """
    for index, doc in enumerate(docs):
        sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
        for sentence in sentences:
            tokens = [token for token in sentence if not token.is_space]
            if tokens:
                yield DocSentence(index, [t.i for t in tokens], [t.text for t in tokens])


class BatchedPipe(Pipe):
    """A component that annotates several docs at once."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def annotate(self, docs: list[Doc]) -> None:
        """Sets the annotations of docs."""

    def __call__(self, doc: Doc) -> Doc:
        with threads_of_this_process():
            self.annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """
        Yields the docs of a stream with their annotations. Annotates `batch_size` docs at a time.
        """
        for docs in minibatch(stream, batch_size):
            try:
                with threads_of_this_process():
                    self.annotate(docs)
            except Exception as error:
                self.get_error_handler()(self.name, self, docs, error)
            else:
                yield from docs


class ModelPipe(BatchedPipe):
    """
    The base class of the components that annotate docs with the answers of a trained task model.
    Such a component needs AllenNLP. It opens its model at first use. A saved pipeline contains the
    model. Before a component replaces the archive in a folder, all components of this process that
    were loaded from this folder read the old archive.

    # Parameters

    model: The trained model: its name, path, address or repository, as for `elmo_tasks.load`.

    # Raises

    `ConfigurationError`: At first use, the model is for another task, or is not an archive. Or the
        model's file was written again since the component was loaded or opened its model.
    """

    # The name of the model's predictor. A subclass sets it.
    predictor: ClassVar[str]

    # The components of this process.
    _alive: ClassVar[weakref.WeakSet["ModelPipe"]] = weakref.WeakSet()

    def __init__(self, nlp: Language, name: str, model: str) -> None:
        super().__init__(name)
        self._model = model
        self._archive: bytes | None = None
        self._predictor: Any = None
        # The numbers that `file_stamp` returned for the model's file when it was chosen or read.
        self._stamp: tuple[int, ...] = ()
        self._alive.add(self)

    def __getstate__(self) -> dict[str, Any]:
        # Another process must open the model itself.
        return {**self.__dict__, "_predictor": None}

    def __setstate__(self, state: Any) -> None:
        # A copy, or an unpickled component, is made without `__init__`.
        super().__setstate__(state)
        self._alive.add(self)

    def predict(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the answers of the predictor to inputs in JSON."""
        answers = list(self._open().stream(inputs))
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def answers(
        self, sentences: Iterable[DocSentence]
    ) -> Iterator[tuple[int, list[int], dict[str, Any]]]:
        """
        Yields, for each sentence that has words, its `doc` and `indices`, and the predictor's
        answer.
        """
        sentences = [doc_sentence for doc_sentence in sentences if doc_sentence.words]
        answers = self.predict([{"tokens": doc_sentence.words} for doc_sentence in sentences])
        for sentence, answer in zip(sentences, answers, strict=True):
            yield sentence.doc, sentence.indices, answer

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Returns the archive of the model. If its folder has none, makes it first."""
        if self._archive is not None:
            return self._archive
        path = self._file()
        return _archive(path) if path.is_dir() else path.read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Loads an archive."""
        self._archive, self._predictor = data, None
        return self

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Writes the archive of the model to a folder."""
        archive = Path(path) / _ARCHIVE
        content = self.to_bytes()
        # This includes the component itself, and a component that had this name before.
        alive = [pipe for pipe in self._alive if pipe._archive is None]
        readers = [pipe for pipe in alive if _are_same(pipe._model, archive)]
        for reader in readers:
            # An archive that another process has replaced is refused at its next use.
            with suppress(ConfigurationError):
                archive_bytes = reader.to_bytes()
                reader._archive = None if archive_bytes == content else archive_bytes
                reader._stamp = () if archive_bytes == content else reader._stamp
        write_whole(archive, content)
        for reader in readers:
            reader._stamp = reader._stamp or file_stamp(archive)

    def from_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Loads the archive in a folder."""
        self._model = str(Path(path) / _ARCHIVE)
        self._archive = self._predictor = None
        self._stamp = file_stamp(self._model)
        return self

    def _open(self) -> Any:
        if self._predictor is None:
            from allennlp.predictors import Predictor

            import elmo_tasks.plugin  # noqa: F401  registers every name
            from elmo_tasks.archives.open_archive import open_archive

            with tempfile.TemporaryDirectory() as folder:
                model = self._model
                if self._archive is not None:
                    model = os.path.join(folder, _ARCHIVE)
                    Path(model).write_bytes(self._archive)
                else:
                    self._stamp = file_stamp(self._file())
                archive = open_archive(model)
            if archive.model.default_predictor != self.predictor:
                raise ConfigurationError(
                    f"{self._model} is a {type(archive.model).__name__}, which the predictor "
                    f"{self.predictor} cannot use"
                )
            self._predictor = Predictor.from_archive(archive)
        return self._predictor

    def _file(self) -> Path:
        """Returns the archive or the folder of the model. Raises an error if it has changed."""
        name = model_path(self._model)
        path = Path(name if os.path.isdir(name) else local_path(name))
        if path.is_dir():
            check_folder(path)
            path = path / _ARCHIVE if (path / _ARCHIVE).exists() else path
        if self._stamp and path.is_file() and file_stamp(path) != self._stamp:
            raise ConfigurationError(
                f"{path} was written again since the component {self.name} was loaded: load the "
                "pipeline, or make the component, again"
            )
        return path


def _are_same(first: str, second: Path) -> bool:
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False


def _archive(folder: Path) -> bytes:
    """Makes an archive of a folder that `elmo-pack` wrote."""
    file = io.BytesIO()
    # The files of a repository are links into a cache, so their content is archived.
    with tarfile.open(fileobj=file, mode="w:gz", dereference=True) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return file.getvalue()

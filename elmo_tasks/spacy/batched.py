from abc import abstractmethod
from collections.abc import Iterable, Iterator

from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import minibatch

from elmo_tasks.spacy.workers import threads_of_this_process


class BatchedPipe(Pipe):
    """
    A component that annotates several docs at once.

    # Parameters

    name: The name of the component in the pipeline.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def annotate(self, docs: list[Doc]) -> None:
        """Sets the annotations of docs."""

    def __call__(self, doc: Doc) -> Doc:
        """Sets the annotations of a doc and returns it."""
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

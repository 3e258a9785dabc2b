from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams
from allennlp.data import DataLoader, Vocabulary

from elmo_tasks.common.errors import ConfigurationError

# The errors that a class raises for arguments that do not fit; and the classes that read data while
# they are made, so that such an error may be a bug of a reader.
_OF_ARGUMENTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError)
_OF_DATA = (DataLoader, TrainModel, Vocabulary)


@contextmanager
def named_errors() -> Iterator[None]:
    """
    Adds a path to errors while the block runs: an error of a class that AllenNLP makes from a
    config becomes a `ConfigurationError` with the path of the class in the config. Errors of
    classes that read data stay as they are.
    """
    original = FromParams.__dict__["from_params"]

    def from_params(cls: Any, params: Any, *args: Any, **options: Any) -> Any:
        path = str(getattr(params, "history", "")).rstrip(".")
        try:
            return original.__func__(cls, params, *args, **options)
        except _OF_ARGUMENTS as error:
            if isinstance(error, ValueError) or issubclass(cls, _OF_DATA):
                raise
            raise ConfigurationError(
                f"{path or 'the config'}: no {cls.__name__} can be made ({error!r})"
            ) from error

    setattr(FromParams, "from_params", classmethod(from_params))  # noqa: B010
    try:
        yield
    finally:
        setattr(FromParams, "from_params", original)  # noqa: B010

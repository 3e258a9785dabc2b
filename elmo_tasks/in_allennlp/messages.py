"""
Makes AllenNLP 2.10.1 say which field of a config, or which file, is wrong, where it notices this.

A field that no constructor takes is refused before a missing one is asked for, because a misspelt
field is both.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from allennlp.common import Params, from_params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance

from elmo_tasks.common.spelling import did_you_mean
from elmo_tasks.in_allennlp.change import Change

# Fields that `allennlp train` reads before it makes a `TrainModel` of the others.
_OF_TRAIN = ["distributed", "include_in_archive", "numpy_seed", "pytorch_seed", "random_seed"]

_create_kwargs = from_params.create_kwargs
_pop_int = Params.pop_int
_read = DatasetReader.read


class UnknownFieldError(ConfigurationError):
    """
    Raised for a field of a config that a constructor does not take.

    # Parameters

    owner, field : `str`
        The names of the class and of the field. Another process that raises the error once more has
        the message alone.
    """

    owner = field = ""


def _create_checked(constructor: Callable, cls: type, params: Params, **extras: Any) -> Any:
    parameters = from_params.infer_method_params(cls, constructor)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    # The code gives `extras`, such as the vocabulary.
    known = [name for name in parameters if name not in {"self", "cls", "kwargs", *extras}]
    if cls.__name__ == "TrainModel":
        known += _OF_TRAIN
    for name in sorted(params.keys() - parameters.keys() - set(known)):
        meant = did_you_mean(name, known)
        # A constructor with **kwargs may take fields that nobody can list.
        if meant or not takes_any:
            meant = meant or f"; it has {', '.join(known)}"
            error = UnknownFieldError(f"{cls.__name__} has no parameter {name!r}{meant}")
            error.owner, error.field = cls.__name__, name
            raise error
    return _create_kwargs(constructor, cls, params, **extras)


def _pop_checked_int(params: Params, key: str, default: Any = Params.DEFAULT) -> int | None:
    given = params.params.get(key)
    try:
        value = _pop_int(params, key, default)
    except (TypeError, ValueError):
        raise ConfigurationError(f"{key} must be a whole number, not {given!r:.80}") from None
    # NumPy takes no others.
    if key in _OF_TRAIN and value is not None and not 0 <= value < 2**32:
        raise ConfigurationError(f"{key} must be from 0 to 2**32 - 1, not {value}")
    return value


def _read_named(reader: DatasetReader, file_path: Any) -> Iterator[Instance]:
    try:
        yield from _read(reader, file_path)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file_path} cannot be read: {error}") from error


CHANGES = (
    Change(
        from_params,
        "create_kwargs",
        _create_checked,
        "A misspelt field is refused before a missing one is asked for.",
    ),
    Change(Params, "pop_int", _pop_checked_int, "A wrong number is refused by its name."),
    Change(DatasetReader, "read", _read_named, "A file that cannot be read is named."),
)

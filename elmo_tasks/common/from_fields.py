import inspect
import types
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from elmo_tasks.common.errors import ConfigurationError

T = TypeVar("T")

_CHECKED = (bool, int, float, str, dict)


def from_fields(cls: type[T], fields: Mapping[str, Any], **given: Any) -> T:
    """
    Makes an object from the fields of a config, without AllenNLP's `FromParams`.

    # Parameters

    cls : `type`
        The class. The parameters of its constructor are the fields.
    fields : `Mapping[str, Any]`
        Arguments by name, with the values that JSON can have.
    given : `Any`
        Arguments that no field may set.

    # Raises

    `ConfigurationError`
        A field is unknown, is missing, or has a value whose type does not fit the constructor.
    """
    parameters = dict(inspect.signature(cls).parameters)
    for name in given:
        del parameters[name]
    unknown = sorted(fields.keys() - parameters.keys())
    if unknown:
        raise ConfigurationError(
            f"{cls.__name__} has no field {', '.join(unknown)}; its fields are "
            f"{', '.join(parameters)}"
        )
    hints = get_type_hints(cls.__init__)
    for name, parameter in parameters.items():
        if name not in fields and parameter.default is parameter.empty:
            raise ConfigurationError(f"{cls.__name__} needs the field {name}")
        if name in fields and not _fits(fields[name], hints[name], parameter.default):
            raise ConfigurationError(f"{name} of {cls.__name__} cannot be {fields[name]!r:.80}")
    return cls(**fields, **given)


def _fits(value: Any, hint: Any, default: Any) -> bool:
    if value is None:
        return default is None
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    kinds = tuple(get_origin(kind) or kind for kind in kinds)
    if isinstance(value, bool):
        return bool in kinds or not any(kind in _CHECKED for kind in kinds)
    if isinstance(value, int) and float in kinds:
        return True
    return any(kind not in _CHECKED or isinstance(value, kind) for kind in kinds)

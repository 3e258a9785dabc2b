import inspect
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import nearest_or_all

T = TypeVar("T")

# The types of fields that are checked.
_CHECKED = (bool, int, float, str, dict)


def from_fields(make: Callable[..., T], fields: Mapping[str, Any], **arguments: Any) -> T:
    """
    Makes an object from the fields of a config, without AllenNLP. Calls `make`, a class or a
    function, with the fields and with `arguments`, which no field may set. Raises
    `ConfigurationError` if a field is unknown or missing, or if its value has the wrong type.
    """
    check_fields(make, fields, arguments)
    return make(**fields, **arguments)


def check_fields(
    make: Callable, fields: Mapping[str, Any], arguments: Collection[str] = ()
) -> None:
    """
    Raises the `ConfigurationError` that `from_fields` would raise, but makes no object. `arguments`
    has the names of the arguments that no field may set.
    """
    title = make.__name__.removeprefix("make_")
    parameters = dict(inspect.signature(make).parameters)
    for name in arguments:
        del parameters[name]
    unknown = sorted(fields.keys() - parameters.keys())
    if unknown:
        raise ConfigurationError(
            f"{title} has no field {', '.join(unknown)}{nearest_or_all(unknown[0], parameters)}"
        )
    hints = get_type_hints(vars(make)["__init__"] if isinstance(make, type) else make)
    for name, parameter in parameters.items():
        if name not in fields and parameter.default is parameter.empty:
            raise ConfigurationError(f"{title} needs the field {name}")
        if name in fields and not _fits(fields[name], hints[name], parameter.default):
            raise ConfigurationError(f"{name} of {title} cannot be {fields[name]!r:.80}")


def _fits(value: Any, hint: Any, default: Any) -> bool:
    """Returns whether a value fits a type hint. Any value but `None` fits an unchecked type."""
    if value is None:
        return default is None
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    kinds = tuple(get_origin(kind) or kind for kind in kinds)
    if isinstance(value, bool):
        return bool in kinds or not any(kind in _CHECKED for kind in kinds)
    if isinstance(value, int) and float in kinds:
        return True
    return any(kind not in _CHECKED or isinstance(value, kind) for kind in kinds)

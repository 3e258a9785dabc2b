"""
Reads an archive's config as AllenNLP does, and refuses what `archive_allowed.py` does not list.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from allennlp.common import Lazy, Registrable
from allennlp.common.from_params import infer_params

from elmo_tasks.bilm.files.known_bilms import is_name
from elmo_tasks.in_allennlp.archive_allowed import (
    ALLOWED,
    MADE,
    MOST,
    MOST_IN_LIST,
    MOST_ITEMS,
    MOST_OF_ALL,
    ONLY_TRAINING,
)


class NotAllowed(Exception):
    """
    Raised for a part of a config that is not allowed. The arguments are the path of the part, and a
    text that says what is wrong.
    """


def check_allowed(config: Mapping[str, Any]) -> None:
    """
    Raises `NotAllowed` if a config has something that `archive_allowed.py` does not list. A value
    is read as AllenNLP reads it, by the annotation of the argument.
    """
    num_items = 0
    for field, value in config.items():
        if field in MADE:
            times = 1
            for path, key, child in items(value, f"{field}."):
                # AllenNLP loads an archive for this key, wherever the key is.
                if key == "_pretrained":
                    raise NotAllowed(path, "names another archive")
                if isinstance(child, list | dict) and len(child) > MOST_ITEMS:
                    raise NotAllowed(path, f"has more than {MOST_ITEMS} items")
                num_items += 1
                if num_items > MOST_OF_ALL:
                    raise NotAllowed(field, f"brings the config to more than {MOST_OF_ALL} items")
                if key.isdigit() and isinstance(child, int) and child > MOST_IN_LIST:
                    raise NotAllowed(path, f"is more than {MOST_IN_LIST}")
                # Nested samplers multiply their numbers of passes.
                if key == "times" and isinstance(child, int):
                    times *= max(1, child)
                    if times > MOST["times"]:
                        raise NotAllowed(path, f"makes more than {MOST['times']} passes")
            _check(MADE[field], value, field)
        elif field not in ONLY_TRAINING:
            raise NotAllowed(field, "is no field of a training")


def items(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yields the path, the key and the value of every item in a config."""
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, child in pairs:
        yield f"{path}{key}", str(key), child
        yield from items(child, f"{path}{key}.")


def _check(kind: Any, value: Any, path: str) -> None:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Lazy:
        _check(args[0], value, path)
    elif origin in (Union, UnionType):
        for each in args:
            # AllenNLP tries a class before a list.
            if isinstance(value, list) or not _is_many(each):
                _check(each, value, path)
    elif isinstance(value, dict) and _is_mapping(kind):
        for key, child in value.items():
            _check(args[-1], child, f"{path}.{key}")
    elif isinstance(value, list | dict) and args and _is_many(kind):
        # If AllenNLP expects a list but gets an object, it takes the keys of the object.
        kinds = args if origin is tuple and ... not in args else len(value) * args[:1]
        for index, (each, child) in enumerate(zip(kinds, value)):
            _check(each, child, f"{path}.{index}")
    elif isinstance(value, str | dict) and hasattr(kind, "from_params"):
        _check_object(kind, {"type": value} if isinstance(value, str) else value, path)


def _check_object(kind: Any, fields: dict[str, Any], path: str) -> None:
    target, method, name = kind, None, kind.__name__
    table = ALLOWED[""]
    if kind in Registrable._registry:
        table = ALLOWED.get(name, {})
        name = fields.get("type", kind.default_implementation)
        if not isinstance(name, str) or name not in table:
            raise NotAllowed(path, f"names the {kind.__name__} {name!r:.200}")
        if table[name] == "*":
            return
        fields = {key: value for key, value in fields.items() if key != "type"}
        target, method = kind.resolve_class_name(name)
    parameters = infer_params(target, getattr(target, method or "__init__"))
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    for key, value in fields.items():
        if key not in table.get(name, "").split():
            if takes_any or key in parameters or key == "type":
                raise NotAllowed(f"{path}.{key}", f"is an argument of {name}")
            # AllenNLP refuses such a field, or takes the object for another class of a union.
            continue
        if key == "bilm" and isinstance(value, str) and not is_name(value):
            raise NotAllowed(f"{path}.{key}", f"is {value!r:.80}, no name of a biLM")
        if isinstance(value, int) and value > MOST.get(key, value):
            raise NotAllowed(f"{path}.{key}", f"is more than {MOST[key]}")
        _check(parameters[key].annotation, value, f"{path}.{key}")


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _is_many(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Iterable) and not _is_mapping(kind)

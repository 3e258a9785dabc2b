"""
Checks the arguments of every object in the config of a training run, before data are read: the
names of the arguments, and whether each value fits the annotation of its argument.

AllenNLP makes many objects only after the data are read, and does not check all values. Classes
that read their config themselves are not checked here.
"""

import json
from collections.abc import Iterable, Mapping
from inspect import Parameter
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Lazy, Registrable
from allennlp.common.from_params import infer_params
from allennlp.data import DatasetReader
from allennlp.training import Trainer

from elmo_tasks.commands.in_allennlp.argument_rules import check_number, is_complete, is_given
from elmo_tasks.commands.in_allennlp.check_indexers import check_indexers
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import did_you_mean, nearest_or_all

# Numbers of the trainer that AllenNLP takes but cannot train with, and their least values.
_AT_LEAST_1 = ("num_epochs", "num_gradient_accumulation_steps", "patience")
_ABOVE_0 = ("grad_norm", "grad_clipping")

_VARIABLE = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

_SIMPLE: dict[Any, tuple[str, set[type]]] = {
    int: ("a whole number", {int, bool}),
    bool: ("true or false", {int, bool}),
    float: ("a number", {int, float}),
    str: ("a string", {str, type(Path())}),
}


def check_arguments(config: Mapping[str, Any]) -> None:
    """
    Raises `ConfigurationError` for the first argument in the config of a training run that is
    missing, has an unknown name, or does not fit its annotation. The message has the path of the
    argument, such as `model.encoder`.
    """
    if "type" in config:
        # Another `TrainModel`, such as the user's own.
        return
    arguments = infer_params(TrainModel, TrainModel.from_partial_objects)
    for name, parameter in arguments.items():
        if name in config:
            _check_argument(parameter, config[name], name)
        elif parameter.default is Parameter.empty and not is_given(name, TrainModel):
            raise ConfigurationError(f"the config has no {name}, which a training run needs")
    # A path may be a list or an object of paths, for a reader that takes such a value.
    wrong = (int, float, list, dict) if _reads_one_file(config["dataset_reader"]) else (int, float)
    for name in ("train_data_path", "validation_data_path", "test_data_path"):
        if isinstance(config.get(name), wrong) or config.get(name) in ([], {}):
            raise _type_error(name, config[name], "the path of a file")
    if config["train_data_path"] is None:
        raise _type_error("train_data_path", None, "the path of a file")
    if isinstance(config["trainer"], dict):
        _check_trainer(config["trainer"])
    if isinstance(config["model"], dict):
        check_indexers(config["dataset_reader"], config["model"])


def as_object(kind: Any, value: Any, path: str) -> dict[str, Any]:
    """
    Returns the JSON object that a value of a config stands for, after it is checked as in
    `check_arguments`.
    """
    _check(kind, value, path)
    return {"type": value} if isinstance(value, str) else value


def _check_trainer(trainer: Mapping[str, Any]) -> None:
    if type(trainer.get("cuda_device", -1)) not in (int, type(None)):
        raise _type_error("trainer.cuda_device", trainer["cuda_device"], "a whole number")
    for name in _AT_LEAST_1:
        if trainer.get(name) is not None and trainer[name] < 1:
            raise ConfigurationError(f"trainer.{name} must be 1 or more, not {trainer[name]}")
    for name in _ABOVE_0:
        # `false` is AllenNLP's default.
        number = trainer.get(name)
        if number is not None and number is not False and number <= 0:
            raise ConfigurationError(
                f"trainer.{name} must be above 0, not {number}; to turn it off, leave it out"
            )


def _check_argument(parameter: Parameter, value: Any, path: str, is_whole: bool = True) -> None:
    if value is not None:
        _check(parameter.annotation, value, path, is_whole)
        return
    # AllenNLP passes `null` on, whatever the annotation says. For a flag, `null` stands for false.
    expected = "" if parameter.annotation is bool else _kind_in_words(parameter.annotation)
    if expected and parameter.default is not None:
        raise _type_error(path, value, expected)


def _check(kind: Any, value: Any, path: str, is_whole: bool = True) -> None:
    """
    Raises `ConfigurationError` unless AllenNLP can make an object of a kind from a value. With
    `is_whole`, all arguments that do not come from the config are known.
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin is Lazy:
        _check(args[0], value, path, is_whole and is_complete(args[0]))
    elif origin in (Union, UnionType):
        _check_any([arg for arg in args if arg is not type(None)], value, path, is_whole)
    elif kind in _SIMPLE:
        if type(value) not in _SIMPLE[kind][1]:
            raise _type_error(path, value, _SIMPLE[kind][0])
    elif _is_object(kind):
        if not isinstance(value, str | dict):
            raise _type_error(path, value, "an object")
        if not isinstance(value, dict) or "_pretrained" not in value:
            fields = {"type": value} if isinstance(value, str) else value
            _check_object(kind, fields, path, is_whole)
    elif _is(origin, Mapping):
        if not isinstance(value, dict):
            raise _type_error(path, value, "an object")
        for key, child in value.items():
            _check_child(args[-1] if args else Any, child, f"{path}.{key}", is_whole)
    elif _is(origin, Iterable):
        # AllenNLP would take the letters of a string and the keys of an object.
        if not isinstance(value, list):
            raise _type_error(path, value, "a list")
        kinds = args if origin is tuple and ... not in args else len(value) * args[:1]
        for index, (item_kind, child) in enumerate(zip(kinds, value)):
            _check_child(item_kind, child, f"{path}.{index}", is_whole)


def _check_child(kind: Any, value: Any, path: str, is_whole: bool) -> None:
    if value is not None:
        _check(kind, value, path, is_whole)
    elif expected := _kind_in_words(kind):
        raise _type_error(path, value, expected)


def _check_any(kinds: list[Any], value: Any, path: str, is_whole: bool) -> None:
    errors = []
    for kind in kinds:
        try:
            return _check(kind, value, path, is_whole)
        except ConfigurationError as error:
            errors.append((kind, error))
    within = [
        (kind, error) for kind, error in errors if _is_object(kind) and isinstance(value, dict)
    ]
    if within:
        # The kind that has most of the arguments is meant.
        raise max(within, key=lambda pair: len(_arguments(pair[0]).keys() & value.keys()))[1]
    expected = " or ".join(dict.fromkeys(_kind_in_words(kind) or str(kind) for kind in kinds))
    raise _type_error(path, value, expected)


def _check_object(kind: Any, fields: dict[str, Any], path: str, is_whole: bool) -> None:
    target, method, is_choice = kind, None, kind in Registrable._registry
    if is_choice:
        name = fields.get("type", kind.default_implementation)
        if name is None:
            raise ConfigurationError(f"{path} has no type, which names the {kind.__name__}")
        if not isinstance(name, str):
            raise _type_error(f"{path}.type", name, "a string")
        if "." not in name and name not in kind.list_available():
            nearest = nearest_or_all(name, kind.list_available())
            raise ConfigurationError(f"{path}: there is no {kind.__name__} named {name!r}{nearest}")
        target, method = kind.resolve_class_name(name)
    if getattr(target, "from_params", None) is None or _reads_itself(target):
        return
    arguments = _arguments(target, method)
    for name, value in fields.items():
        if name in arguments:
            _check_argument(arguments[name], value, f"{path}.{name}", is_whole)
            if _is_known(target):
                check_number(name, value, f"{path}.{name}")
        elif not (is_choice and name == "type") and _is_wrong(name, target, arguments):
            names = [argument for argument in arguments if argument not in ("self", "kwargs")]
            raise ConfigurationError(
                f"{path}: the {target.__name__} has no argument {name!r}"
                f"{nearest_or_all(name, [*names, 'type'] if is_choice else names)}"
            )
    for name, parameter in arguments.items() if is_whole else ():
        is_needed = parameter.default is Parameter.empty and parameter.kind not in _VARIABLE
        if is_needed and name not in ("self", *fields) and not is_given(name, target):
            expected = _kind_in_words(parameter.annotation)
            raise ConfigurationError(
                f"{path}: the {target.__name__} needs the argument {name!r}"
                f"{expected and ', '}{expected}"
            )
    # A class may know more of its fields than their kinds.
    if check := getattr(target, "check_fields", None):
        try:
            check(fields)
        except ConfigurationError as error:
            raise ConfigurationError(f"{path}: {error}") from error


def _arguments(target: Any, method: str | None = None) -> Mapping[str, Parameter]:
    return infer_params(target, getattr(target, method or "__init__"))


def _is_wrong(name: str, target: Any, arguments: Mapping[str, Parameter]) -> bool:
    """
    Returns whether a class has no argument of this name. A class with `**kwargs` may take any
    argument. But in AllenNLP and this package, `**kwargs` go to base classes with known arguments.
    There, a name that is similar to the name of a known argument is wrong.
    """
    if not any(argument.kind is Parameter.VAR_KEYWORD for argument in arguments.values()):
        return True
    # A trainer leaves others out without a word.
    is_lost = issubclass(target, Trainer) or did_you_mean(name, [*arguments, "type"]) != ""
    return _is_known(target) and is_lost


def _is_known(target: Any) -> bool:
    return str(target.__module__).startswith(("allennlp.", "elmo_tasks."))


def _reads_one_file(reader: Any) -> bool:
    """
    Returns whether a reader takes one path, as all readers of AllenNLP and of this package do.
    """
    name = reader.get("type") if isinstance(reader, dict) else reader
    if not isinstance(name, str) or isinstance(reader, dict) and "reader" in reader:
        return False
    return _is_known(DatasetReader.resolve_class_name(name)[0])


def _reads_itself(target: Any) -> bool:
    return target.from_params.__func__ is not FromParams.from_params.__func__  # type: ignore[attr-defined]


def _is_object(kind: Any) -> bool:
    return hasattr(kind, "from_params")


def _is(origin: Any, base: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, base)


def _kind_in_words(kind: Any) -> str:
    """Returns the kind in words, or an empty text if any value is of this kind."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Lazy or _is_object(kind) or _is(origin, Mapping):
        return "an object"
    if origin in (Union, UnionType):
        return "" if type(None) in args else " or ".join(filter(None, map(_kind_in_words, args)))
    if _is(origin, Iterable):
        return "a list"
    return _SIMPLE[kind][0] if kind in _SIMPLE else ""


def _type_error(path: str, value: Any, expected: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path} must be {expected}, not {json.dumps(value, default=str):.80}"
    )

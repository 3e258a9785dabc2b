"""Tests that the defaults of parameters are those that the docstrings name."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

_DOCUMENTED = re.compile(r"^ *(\w[\w, ]*) \((?:`.*`, )?default `(.+?)`\)", re.MULTILINE)


@pytest.mark.parametrize(
    "room", ["bilm", "elmo", "models", "modules", "readers", "sklearn", "spacy", "training"]
)
def test_defaults_are_those_of_the_docstrings(room: str) -> None:
    documented, actual = defaults(room)

    assert documented and actual == documented


def defaults(room: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Returns the documented defaults of a folder of the package, by `Class.parameter` or
    `function.parameter`, and the defaults of the same parameters in the code. Defaults that are
    made when they are needed, so that the code has `None`, are left out.
    """
    documented, actual = {}, {}
    for owner in _owners(f"elmo_tasks.{room}"):
        parameters = inspect.signature(owner).parameters
        for names, value in _DOCUMENTED.findall(inspect.getdoc(owner) or ""):
            for name in names.split(", "):
                if parameters[name].default is not None:
                    key = f"{owner.__qualname__}.{name}"
                    documented[key] = ast.literal_eval(value)
                    actual[key] = parameters[name].default
    return documented, actual


def _owners(package: str) -> Iterator[Any]:
    """Yields the classes and functions of a package, and the methods of the classes."""
    paths = importlib.import_module(package).__path__
    for name in [package, *(each.name for each in pkgutil.walk_packages(paths, f"{package}."))]:
        for owner in vars(importlib.import_module(name)).values():
            if getattr(owner, "__module__", None) == name:
                if inspect.isclass(owner):
                    yield from filter(inspect.isfunction, vars(owner).values())
                if inspect.isclass(owner) or inspect.isfunction(owner):
                    yield owner

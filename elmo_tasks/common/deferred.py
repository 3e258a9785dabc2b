"""
Defers the imports of packages until they are used. AllenNLP imports these packages at its start,
and most commands of `elmo-tasks` use none of them.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Packages that AllenNLP imports, and that take seconds and hundreds of megabytes.
HEAVY = ("nltk", "rich", "scipy.stats", "sklearn", "tensorboardX", "torchvision", "transformers")


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """
    Within the block, an import of these modules gives a stand-in, which imports the real module at
    its first use. Modules that were imported before stay as they are.
    """
    finder = _Finder([name for name in names if name not in sys.modules])
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _forget(finder.names)


class _StandIn(ModuleType):
    """Stands for a module, or for an attribute of the module."""

    __path__: list[str] = []

    def __init__(self, module: str, attribute: str = "") -> None:
        super().__init__(module)
        self._module, self._attribute = module, attribute

    def _real(self) -> Any:
        module = _import(self._module)
        return getattr(module, self._attribute) if self._attribute else module

    def __getattr__(self, name: str) -> Any:
        # `typing` looks for special names, which a stand-in must not have.
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self._module) is self:
            return _StandIn(self._module, name)
        return getattr(self._real(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._real()(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._real()[key]

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._real())

    def __mro_entries__(self, bases: Any) -> tuple[type]:
        return (self._real(),)


class _Finder:
    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if _is_in(name, self.names) else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing, since a stand-in has no code."""


def _import(name: str) -> ModuleType:
    """Imports a real module, even while imports of its package are deferred."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            used = [package for package in finder.names if _is_in(name, [package])]
            finder.names = [package for package in finder.names if package not in used]
            _forget(used)
    return importlib.import_module(name)


def _is_in(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _forget(names: Sequence[str]) -> None:
    """Removes the stand-ins for packages from `sys.modules`, so the next import is real."""
    for name, module in list(sys.modules.items()):
        if isinstance(module, _StandIn) and _is_in(name, names):
            del sys.modules[name]

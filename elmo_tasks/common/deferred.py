import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# The modules of cached_path that fetch from clouds, and the schemes of their addresses. The import
# of cached_path asks each module for its scheme.
_CLOUDS = {f"cached_path.schemes.{scheme}": scheme for scheme in ("gs", "r2", "s3")}

# Packages that AllenNLP imports, and that take seconds and hundreds of megabytes.
HEAVY = (
    "nltk",
    "rich",
    "scipy.stats",
    "sklearn",
    "spacy.cli",
    "tensorboardX",
    "tokenizers",
    "torchvision",
    "transformers",
    *_CLOUDS,
)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """
    Defers imports of packages and all their modules until they are used. Code that is imported
    within the context gets stand-ins for the modules and for what it imports from them. A stand-in
    imports the real module when it is called or asked for an attribute. Code that is imported later
    gets the real modules. A package that was imported before is not deferred.

    A class with a stand-in as its base lacks that base. No object of the class can be made: an
    ImportError says which package to import first.

    # Parameters

    names: Names of packages or modules, such as `transformers`.
    """
    finder = _Finder([name for name in names if name not in sys.modules])
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _forget(finder.names)


class _StandIn:
    """Stands for an attribute of a module."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def _real(self) -> Any:
        return getattr(_import(self._module), self._name)

    def __getattr__(self, name: str) -> Any:
        # `typing` looks for special names, which a stand-in must not have.
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "scheme" and self._module in _CLOUDS:
            return _CLOUDS[self._module]
        return getattr(self._real(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._real()(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._real()[key]

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._real())

    def __mro_entries__(self, bases: Any) -> tuple[type]:
        package = self._module.partition(".")[0]

        def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
            raise ImportError(
                f"{cls.__name__} needs {self._module}.{self._name}, which elmo_tasks left out to "
                f"start quickly: import {package} before it"
            )

        return (type(self._name, (), {"__new__": __new__}),)


class _StandInModule(ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            return _StandIn(self.__name__, name)
        return getattr(_import(self.__name__), name)


class _Finder:
    """Finds stand-ins for modules and loads them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if any(name == each or name.startswith(f"{each}.") for each in self.names):
            return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing, since a stand-in has no code."""


def _import(name: str) -> ModuleType:
    """Imports a module, also while imports of its package are deferred."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            used = [each for each in finder.names if name == each or name.startswith(f"{each}.")]
            finder.names = [each for each in finder.names if each not in used]
            _forget(used)
    return importlib.import_module(name)


def _forget(names: Sequence[str]) -> None:
    """
    Removes the stand-ins for packages, so the next import is real. A stand-in that is an attribute
    of a real package stays, and gives whoever uses it the real module.
    """
    for name, module in list(sys.modules.items()):
        is_one = any(name == each or name.startswith(f"{each}.") for each in names)
        if is_one and isinstance(module, _StandInModule):
            del sys.modules[name]
            # The real module may have a function of this name, such as `spacy.cli.download`.
            for child in [key for key, one in vars(module).items() if isinstance(one, ModuleType)]:
                delattr(module, child)

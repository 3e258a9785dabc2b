import importlib
import sys
import types
import typing
from pathlib import Path

import pytest

from elmo_tasks.common.deferred import deferred


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Makes a package with a module, and another module that imports both."""
    (tmp_path / "heavy_one").mkdir()
    (tmp_path / "heavy_one" / "__init__.py").write_text("LOADED = True\n")
    (tmp_path / "heavy_one" / "part.py").write_text(
        "class Tool:\n    size = 3\n\n    def __init__(self, n=0):\n        self.n = n\n"
        "TABLE = {'a': 1}\n"
    )
    (tmp_path / "user_of_it.py").write_text(
        "import heavy_one\nimport heavy_one.part as part\nfrom heavy_one.part import Tool, TABLE\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("heavy_one", "heavy_one.part", "user_of_it"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return "heavy_one"


def test_a_package_is_imported_when_it_is_used_and_not_before(package: str) -> None:
    with deferred(package):
        user = importlib.import_module("user_of_it")

    assert package not in sys.modules and f"{package}.part" not in sys.modules
    assert user.Tool(5).n == 5 and f"{package}.part" in sys.modules
    assert (user.Tool.size, user.TABLE["a"], user.heavy_one.LOADED, user.part.Tool.size) == (
        3,
        1,
        True,
        3,
    )
    assert isinstance(user.part.Tool(), user.Tool)


def test_a_class_may_be_used_while_it_is_deferred(package: str) -> None:
    with deferred(package):
        user = importlib.import_module("user_of_it")

        assert typing.Optional[typing.List[user.Tool]]  # type: ignore[name-defined]  # noqa: UP006, UP045
        assert type(sys.modules[f"{package}.part"]).__name__ == "_StandIn"
        sub = type("Sub", types.resolve_bases((user.Tool,)), {})
        assert user.Tool(5).n == 5 and user.heavy_one.LOADED is True

    assert sub(5).n == 5 and sub.__mro__[1] is sys.modules[f"{package}.part"].Tool


def test_later_imports_get_the_real_package(package: str) -> None:
    with deferred(package):
        importlib.import_module("user_of_it")

    real = importlib.import_module(f"{package}.part")

    assert isinstance(real.Tool, type) and sys.modules[package].LOADED is True


def test_a_deferred_module_stays_an_attribute_of_its_package(package: str) -> None:
    with deferred(f"{package}.part"):
        importlib.import_module("user_of_it")

    assert sys.modules[package].part.Tool(5).n == 5
    assert sys.modules[package].part is sys.modules[f"{package}.part"]


def test_a_package_that_was_imported_before_stays(package: str) -> None:
    real = importlib.import_module(package)

    with deferred(package):
        user = importlib.import_module("user_of_it")

    assert user.heavy_one is real and isinstance(user.Tool, type)

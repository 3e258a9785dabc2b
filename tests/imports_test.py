"""
Tests that the rooms (folders) of the package have an order, in which a room imports only rooms
before it, and that no files import each other in a circle.
"""

import ast
import functools
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "elmo_tasks"

# The list in CONTRIBUTING.md: the rooms that the files of a room may import, besides their own.
ORDER = {
    name: set(allowed.split(", ")) - {"nothing"}
    for name, allowed in re.findall(
        r"^(\w+) +<-  (.+)$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
}

# These modules may import every room.
TOP = {"__init__", "__main__", "compat", "console", "plugin"}

# The one exception to the order: these modules need AllenNLP only sometimes, and then import the
# plugin, which imports every room, inside a function.
LATE = {
    "elmo_tasks.archives.elmo_of_model",
    "elmo_tasks.commands.command",
    "elmo_tasks.commands.new",
    "elmo_tasks.elmo.opening",
    "elmo_tasks.spacy.pipes",
}
PLUGIN = "elmo_tasks.plugin"


def imported_names(path: Path) -> Iterator[str]:
    """
    Yields every module that a file imports, in functions and under TYPE_CHECKING as well, and every
    module that it names for `import_module`.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [each.value for each in node.args if isinstance(each, ast.Constant)]
            yield from (str(name) for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if is_module(name) else str(node.module)


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports_of_files() -> dict[str, set[str]]:
    """Maps each module of the package to the modules of the package that it imports."""
    return {
        module_name(path): {
            name for name in imported_names(path) if name.split(".")[0] == "elmo_tasks"
        }
        - ({PLUGIN} if module_name(path) in LATE else set())
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def room(module: str) -> str:
    """Returns the room of a module, or the module's own name if it is in none."""
    return (module.split(".") + ["__init__"])[1]


@pytest.mark.parametrize("name", ORDER)
def test_a_room_imports_only_rooms_before_it(name: str) -> None:
    before = set(list(ORDER)[: list(ORDER).index(name)])
    assert ORDER[name] <= before

    arrows = [
        f"{module} -> {imported}"
        for module, names in imports_of_files().items()
        for imported in names
        if room(module) == name and room(imported) not in {name, *ORDER[name]}
    ]

    assert not arrows, f"{name} may import {sorted(ORDER[name])}, but has {'; '.join(arrows)}"


def test_no_files_import_each_other_in_a_circle() -> None:
    try:
        graphlib.TopologicalSorter(imports_of_files()).prepare()
    except graphlib.CycleError as error:
        # Each module of the list is imported by the next one.
        pytest.fail("a circle of imports: " + " <- ".join(error.args[1]))


def test_imports_are_deferred_in_the_process_of_our_command_alone() -> None:
    importing = {
        imported: {name for name, names in imports_of_files().items() if imported in names}
        for imported in ("elmo_tasks.common.deferred", "elmo_tasks.console")
    }

    assert importing == {
        "elmo_tasks.common.deferred": {"elmo_tasks.console"},
        "elmo_tasks.console": {"elmo_tasks.__main__"},
    }


def test_a_module_that_is_named_by_a_string_counts_as_imported(tmp_path: Path) -> None:
    file = tmp_path / "late.py"
    file.write_text('import importlib\nimportlib.import_module("elmo_tasks.plugin")\n')

    assert list(imported_names(file)) == ["importlib", "elmo_tasks.plugin"]


@pytest.mark.parametrize("name", sorted(LATE))
def test_the_plugin_is_imported_late_inside_a_function(name: str) -> None:
    path = (ROOT / name.replace(".", "/")).with_suffix(".py")

    columns = [
        node.col_offset
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) and PLUGIN in (alias.name for alias in node.names)
    ]

    assert columns and min(columns) > 0


def test_the_order_names_every_folder_and_module() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")}

    assert rooms == set(ORDER)
    assert modules == TOP

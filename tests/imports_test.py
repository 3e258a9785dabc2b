import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "elmo_tasks"

# What a folder may import: the way of the data, backwards.
ORDER = {
    "common": set(),
    "readers": {"common"},
    "store": {"common"},
    "bilm": {"common", "store"},
    "elmo": {"bilm"},
    "modules": {"bilm", "common", "elmo", "readers"},
    "metrics": set(),
    "models": {"elmo", "metrics", "modules", "readers"},
    "language_model": {"bilm", "common", "readers"},
    "training": {"bilm", "common"},
    "predictors": {"common", "language_model", "models", "readers"},
    "commands": {"bilm", "common", "elmo", "readers", "store"},
}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if module.startswith("elmo_tasks."):
            yield module.split(".")[1]


def test_imports_point_backwards_along_the_way_of_the_data() -> None:
    seen = 0
    for folder, allowed in ORDER.items():
        for path in (PACKAGE / folder).rglob("*.py"):
            for imported in imports(path):
                seen += 1
                # Modules of the package itself, such as `files`, serve all.
                if (PACKAGE / imported).is_dir() and imported != folder:
                    assert imported in allowed, f"{path.name} of {folder} imports {imported}"
    assert seen > 20


def test_every_folder_has_its_place_in_the_order() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

    assert folders == set(ORDER)

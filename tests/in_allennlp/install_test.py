"""Tests that every change to AllenNLP is in one room, with its reason, and none elsewhere."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.in_allennlp.change import Change
from elmo_tasks.in_allennlp.install import CHANGES, install

PACKAGE = Path(__file__).parents[2] / "elmo_tasks"
OTHERS = ("allennlp", "cached_path", "transformers")


def changes_in(path: Path) -> Iterator[str]:
    """Yields what a file assigns to another package, or registers under one of its names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in OTHERS:
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name
                for alias in node.names
                if alias.name.split(".")[0] in OTHERS
            }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) in names:
                    yield ast.unparse(target)
        if isinstance(node, ast.Call):
            text = ast.unparse(node)
            if ".register(" in text and "exist_ok" in text:
                yield text


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change_is_made_has_a_reason_and_names_a_version(change: Change) -> None:
    install()

    assert getattr(change.module, change.name) is change.value
    assert getattr(change.module, "__module__", change.module.__name__).startswith(OTHERS)
    assert change.reason.endswith(".") and change.version.split()[0] in OTHERS


def test_changes_are_made_in_this_room_alone() -> None:
    files = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    changing = {name for name, path in files.items() if any(changes_in(path))}

    assert all(name.startswith("in_allennlp/") for name in changing)
    # The ones of this room that are not in `CHANGES` replace a registered name.
    assert changing >= {f"in_allennlp/{name}.py" for name in ("compat", "logs", "saved_vocabulary")}


def test_a_change_is_found_where_it_is_made(tmp_path: Path) -> None:
    file = tmp_path / "late.py"
    file.write_text("from allennlp.models import archival\narchival.Params = dict\n")

    assert list(changes_in(file)) == ["archival.Params"]

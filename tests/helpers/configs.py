"""The shipped configs, evaluated with changes, and compared."""

import json
import subprocess
from pathlib import Path
from typing import Any

from elmo_tasks.common.package_data import NO_TASKS
from tests.helpers.fast_jsonnet import evaluate_in_go

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "training_configs"
BILMS = f"(import '{CONFIGS}/lib/bilms.libsonnet')"
TINY = f"(import '{ROOT}/fixtures/tiny.libsonnet')"
FIXTURE_BILM = f"{TINY}.bilm"


def _tracked_configs() -> list[Path]:
    """
    Returns the configs that git has: one that a user saves beside the shipped ones is not tested.
    Without git, there are those of a release.
    """
    listed = subprocess.run(
        ["git", "ls-files", "training_configs/*/*.jsonnet"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return sorted(map(Path, listed.stdout.split())) or sorted(CONFIGS.glob("*/*.jsonnet"))


# The names of the configs by their folders.
SHIPPED: dict[str, list[str]] = {}
for _path in _tracked_configs():
    SHIPPED.setdefault(_path.parent.name, []).append(_path.stem)

TASKS = [name for name in SHIPPED if name not in ("bilm", *NO_TASKS)]


def shipped(*folders: str) -> list[tuple[str, str]]:
    """Returns (folder, name) of each shipped config, of all folders if none is given."""
    return [(folder, name) for folder in folders or SHIPPED for name in SHIPPED[folder]]


def config_path(folder: str, name: str) -> Path:
    return CONFIGS / folder / f"{name}.jsonnet"


def evaluate(snippet: str) -> Any:
    """Returns the value of a jsonnet text."""
    return json.loads(evaluate_in_go("test", snippet))


def config(folder: str, name: str, *changes: str) -> dict[str, Any]:
    """Returns a config with jsonnet objects, such as `{ elmo_lambda: 1 }`, added to it."""
    return evaluate(" + ".join((f"(import '{config_path(folder, name)}')", *changes)))


def tiny(folder: str, name: str, *changes: str) -> dict[str, Any]:
    """Returns a config shrunk by the overlay of the fixtures, then changed."""
    return config(folder, name, TINY, *changes)


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Returns every number and string of a config by its dotted path."""
    if isinstance(value, dict):
        return {k: v for key in value for k, v in leaves(value[key], f"{path}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, e in enumerate(value) for k, v in leaves(e, f"{path}.{i}").items()}
    return {path[1:]: value}


def number_at(path: str, value: Any) -> Any:
    """Returns what a config has at a dotted path, or `None` if it has nothing there."""
    for key in path.split("."):
        if value is None:
            return None
        value = dict(enumerate(value)).get(int(key)) if isinstance(value, list) else value.get(key)
    return value


def differences(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    """Returns the dotted paths at which two configs differ."""
    first, second = leaves(one), leaves(other)
    return {path for path in first.keys() | second.keys() if first.get(path) != second.get(path)}

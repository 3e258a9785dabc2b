"""The configs of the language models, shrunk, for the tests that train one."""

import json
from pathlib import Path
from typing import Any

import _jsonnet

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "training_configs" / "bilm").glob("*.jsonnet"))
CORPUS = ROOT / "fixtures" / "corpus" / "train.txt"
HELDOUT = ROOT / "fixtures" / "corpus" / "heldout.txt"


def shrunk(name: str, *changes: str) -> dict[str, Any]:
    """A config of training_configs/bilm shrunk by the overlay, changed and evaluated."""
    parts = [
        f"import '{ROOT}/training_configs/bilm/{name}.jsonnet'",
        f"import '{ROOT}/fixtures/tiny.libsonnet'",
        *changes,
    ]
    return json.loads(_jsonnet.evaluate_snippet("test", " + ".join(f"({part})" for part in parts)))

"""Configs of SST, shrunk, with the biLM of the fixtures, for the tests of stores."""

import json
from pathlib import Path
from typing import Any

from elmo_tasks.readers.sst import parse_tree
from tests.helpers.configs import ROOT, tiny


def config(change: str = "{}", variant: str = "both") -> dict[str, Any]:
    return tiny("sst", variant, change)


def config_file(folder: Path, change: str = "{}", variant: str = "both") -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps(config(change, variant)))
    return file


def texts_of_the_config() -> set[tuple[str, ...]]:
    """Returns all phrases of at least four tokens, and all sentences."""
    texts = set()
    for line in (ROOT / "fixtures" / "sst.txt").read_text(encoding="utf-8").splitlines():
        tree = parse_tree(line)
        for node in tree.nodes:
            words = tuple(tree.words[node.start : node.end])
            if len(words) >= 4 or node == tree.root:
                texts.add(words)
    return texts

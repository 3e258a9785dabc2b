"""The configs of language models, shrunk, for the tests that train one."""

from typing import Any

from tests.helpers.configs import ROOT, config_path, shipped, tiny

CONFIGS = [config_path(*each) for each in shipped("bilm")]
CORPUS = ROOT / "fixtures" / "corpus" / "train.txt"
HELDOUT = ROOT / "fixtures" / "corpus" / "heldout.txt"


def shrunk(name: str, *changes: str) -> dict[str, Any]:
    """Returns a config of training_configs/bilm shrunk by the overlay, then changed."""
    return tiny("bilm", name, *(f"({change})" for change in changes))

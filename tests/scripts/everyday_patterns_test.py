"""What all scripts do that write data from patterns."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from elmo_tasks.common.errors import ConfigurationError
from scripts import everyday_inferences, everyday_names, everyday_roles, everyday_stories

# What stands once for each item of an output.
ITEMS = {
    everyday_inferences: "gold_label",
    everyday_names: "\n\n",
    everyday_roles: "\n\n",
    everyday_stories: "#begin document",
}


@pytest.mark.parametrize("script", ITEMS)
def test_the_same_seed_writes_the_same_file_and_replaces_nothing(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for name in ("a", "b"):
        arguments = [str(tmp_path / name), "--number", "20", "--seed", "3"]
        monkeypatch.setattr(sys, "argv", ["script.py", *arguments])
        script.main()
        texts.append((tmp_path / name).read_text())

    assert texts[0] == texts[1] and texts[0].count(ITEMS[script]) == 20
    with pytest.raises(ConfigurationError, match="exists"):
        script.main()
    assert (tmp_path / "b").read_text() == texts[1]

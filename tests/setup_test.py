import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks import __version__

ROOT = Path(__file__).parents[1]
ADDRESS = "https://example.com/us/elmo-tasks"


@pytest.fixture
def filled(tmp_path: Path) -> dict[str, Any]:
    """What setup.py says in a repository that has an address."""
    for name in ("README.md", "elmo_tasks/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (ROOT / "setup.py").read_text("utf-8")
    changed = re.sub(r'^REPOSITORY = ".*"', f'REPOSITORY = "{ADDRESS}"', text, flags=re.MULTILINE)
    (tmp_path / "setup.py").write_text(changed, "utf-8")
    return runpy.run_path(str(tmp_path / "setup.py"))


def test_the_address_gives_an_index_its_links_and_pictures(filled: dict[str, Any]) -> None:
    tag = f"v{__version__}"

    shown = filled["away_from_home"](filled["README"])

    assert filled["LINKS"]["Source"] == ADDRESS
    assert "clusters: the verb" in shown and f"]({ADDRESS}/raw/{tag}/docs/play.png)" in shown
    assert f"]({ADDRESS}/blob/{tag}/docs/install.md#which-pythons)" in shown
    assert set(re.findall(r"\]\((?!#)([a-z]+:|[^)]*)", shown)) == {"https:"}


def test_a_page_of_a_folder_links_from_there(filled: dict[str, Any]) -> None:
    page = filled["ROOT"] / "elmo_tasks" / "pretrained" / "README.md"
    page.parent.mkdir()
    page.write_text("[card](base/MODEL_CARD.md) [code](../../setup.py)")

    shown = filled["away_from_home"](page)

    blob = f"{ADDRESS}/blob/v{__version__}"
    assert shown == (
        f"[card]({blob}/elmo_tasks/pretrained/base/MODEL_CARD.md) [code]({blob}/setup.py)"
    )


def test_without_an_address_there_are_neither_links_nor_pictures(tmp_path: Path) -> None:
    ours, page = runpy.run_path(str(ROOT / "setup.py")), tmp_path / "page.md"
    page.write_text("![A chart](a.png)See [the [old] page](b.md) and [ELMo](https://example.com).")

    if not ours["REPOSITORY"]:
        assert ours["away_from_home"](page) == "See the [old] page and [ELMo](https://example.com)."


def test_the_changelog_begins_with_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")

    assert re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)[0] == __version__

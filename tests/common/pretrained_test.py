from pathlib import Path

import pytest

from elmo_tasks.archives.known_models import KNOWN_MODELS
from elmo_tasks.common import pretrained
from elmo_tasks.common.pretrained import MODELS, check_is_installed, pretrained_files

FOLDER = Path(pretrained.__file__).parents[1] / "pretrained"


class Distribution:
    """Stands for the installed elmo-tasks-models."""

    def __init__(self, site: Path) -> None:
        self.locate_file = site.joinpath


def test_a_checkout_has_all_names_of_the_other_distribution() -> None:
    assert sorted(MODELS) == sorted(["base", *KNOWN_MODELS])


def test_the_other_distribution_adds_names_and_a_checkout_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("base", "large"):
        (tmp_path / "elmo_tasks_models" / name).mkdir(parents=True)
        (tmp_path / "elmo_tasks_models" / name / "weights.hdf5").touch()
    monkeypatch.setattr(pretrained, "distribution", lambda _: Distribution(tmp_path))

    assert pretrained_files("*/weights.hdf5") == {
        "base": str(FOLDER / "base" / "weights.hdf5"),
        "large": str(tmp_path / "elmo_tasks_models" / "large" / "weights.hdf5"),
        "mini": str(FOLDER / "mini" / "weights.hdf5"),
    }


def test_other_names_are_not_said_to_be_of_the_other_distribution() -> None:
    check_is_installed("nre")


@pytest.mark.parametrize("name", MODELS)
def test_the_page_of_licences_has_a_row_for_each_model(name: str) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")

    file = f"models/{name}/" if name in KNOWN_MODELS else f"{name}/weights.hdf5"
    assert page.count(f"\n| `{file}` | `elmo-tasks-models` |") == 1

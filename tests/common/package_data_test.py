from pathlib import Path

import pytest

from elmo_tasks.archives.known_models import KNOWN_MODELS
from elmo_tasks.common import package_data
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.package_data import (
    TRAINED,
    check_is_installed,
    config_folder,
    config_path,
    import_jsonnet,
    pretrained_files,
)
from tests.helpers.configs import CONFIGS


def test_a_shipped_config_is_found_by_its_name() -> None:
    assert config_folder() == CONFIGS
    assert config_path("elmo_tasks:sst/both") == str(CONFIGS / "sst" / "both.jsonnet")
    assert config_path("sst/both.jsonnet") == "sst/both.jsonnet"


@pytest.mark.parametrize("name", ["elmo_tasks:sst/bth", "elmo_tasks:../sst/bth"])
def test_a_config_that_does_not_exist_is_refused_with_the_nearest(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean 'elmo_tasks:sst/both'\?"):
        config_path(name)


def test_a_library_is_beside_the_importing_file_or_in_the_package(tmp_path: Path) -> None:
    mine = tmp_path / "elmo_tasks" / "sst.libsonnet"
    mine.parent.mkdir()
    mine.write_text("{}")

    assert import_jsonnet(f"{tmp_path}/", "elmo_tasks/sst.libsonnet") == (str(mine), b"{}")
    mine.write_text("{}", encoding="utf-8-sig")
    assert import_jsonnet(f"{tmp_path}/", "elmo_tasks/sst.libsonnet") == (str(mine), b"{}")
    mine.unlink()
    library = CONFIGS / "lib" / "sst.libsonnet"
    shipped = str(library), library.read_bytes()
    assert import_jsonnet(f"{tmp_path}/", "elmo_tasks/sst.libsonnet") == shipped
    with pytest.raises(FileNotFoundError, match="there is no file .*, and none in elmo_tasks"):
        import_jsonnet(f"{tmp_path}/", "elmo_tasks/sts.libsonnet")


FOLDER = Path(package_data.__file__).parents[1] / "pretrained"


class Distribution:
    """Stands for the installed elmo-tasks-models."""

    def __init__(self, site: Path) -> None:
        self.locate_file = site.joinpath


def test_a_checkout_has_all_names_of_the_other_distribution() -> None:
    assert sorted(TRAINED) == sorted(KNOWN_MODELS)


def test_the_other_distribution_adds_names_and_a_checkout_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("base", "large"):
        (tmp_path / "elmo_tasks_models" / name).mkdir(parents=True)
        (tmp_path / "elmo_tasks_models" / name / "weights.hdf5").touch()
    monkeypatch.setattr(package_data, "distribution", lambda _: Distribution(tmp_path))

    assert pretrained_files("*/weights.hdf5") == {
        "base": str(FOLDER / "base" / "weights.hdf5"),
        "large": str(tmp_path / "elmo_tasks_models" / "large" / "weights.hdf5"),
        "mini": str(FOLDER / "mini" / "weights.hdf5"),
    }


def test_other_names_are_not_said_to_be_of_the_other_distribution() -> None:
    check_is_installed("nre")


@pytest.mark.parametrize("name", ["base", *TRAINED])
def test_the_page_of_licences_has_a_row_for_each_model(name: str) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")

    file = f"models/{name}/" if name in KNOWN_MODELS else f"{name}/weights.hdf5"
    assert page.count(f"\n| `{file}` | `elmo-tasks-models` |") == 1

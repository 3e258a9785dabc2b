from pathlib import Path

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.package_data import config_folder, config_path, import_jsonnet
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
    mine.unlink()
    library = CONFIGS / "lib" / "sst.libsonnet"
    shipped = str(library), library.read_bytes()
    assert import_jsonnet(f"{tmp_path}/", "elmo_tasks/sst.libsonnet") == shipped
    with pytest.raises(FileNotFoundError, match="there is no file .*, and none in elmo_tasks"):
        import_jsonnet(f"{tmp_path}/", "elmo_tasks/sts.libsonnet")

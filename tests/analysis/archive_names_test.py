from pathlib import Path

import pytest

from elmo_tasks.analysis.archive_names import name_archives
from elmo_tasks.common.errors import ConfigurationError


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["runs/sst/both"], ["both"]),
        (["runs/sst/both/model.tar.gz", "runs/snli/both"], ["sst/both", "snli/both"]),
        (["runs/sst/both", "runs/sst/moved.tar.gz"], ["both", "moved.tar.gz"]),
        (["A=runs/sst/both", "runs/snli/both"], ["A", "snli/both"]),
        (["A=runs/sst/both", "B=runs/sst/both"], ["A", "B"]),
    ],
)
def test_an_archive_is_named_after_its_path_where_the_paths_differ(
    arguments: list[str], names: list[str]
) -> None:
    assert list(name_archives(arguments)) == names


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "lr=1"
    folder.mkdir()

    assert name_archives([str(folder)]) == {"lr=1": str(folder)}


def test_two_archives_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="a/b and a/b/model.tar.gz .* named b: give NAME="):
        name_archives(["a/b", "a/b/model.tar.gz"])

import os
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.analysis.check import check
from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.hostile_weights import KINDS, hostile_files
from tests.helpers.reference_bilm import make_options, random_files


@pytest.fixture(autouse=True)
def no_bilm_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each refusal comes before a biLM takes memory."""
    monkeypatch.setattr(FrozenBiLm, "__init__", lambda *_: pytest.fail("a biLM was made"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_does_harm_is_refused_and_not_sound(kind: str, tmp_path: Path) -> None:
    files = hostile_files(tmp_path, kind)
    _, message = KINDS[kind]

    with pytest.raises(ConfigurationError) as caught:
        make_bilm(*files)
    report = check(*files)

    assert message in str(caught.value) and str(files[1]) in str(caught.value)
    assert message in "\n".join(report.problems)
    str(report).encode("utf-8")


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        *(("lstm", "n_layers", value) for value in (100, 10**12)),
        *(("lstm", "dim", value) for value in (10**5, 10**12)),
        ("char_cnn", "n_highway", 10**12),
        ("char_cnn", "filters", [[1, 10**30]]),
        ("char_cnn", "filters", [[1, 1]] * 10**5),
    ],
)
def test_options_that_ask_for_more_than_the_file_has_are_refused(
    section: str, key: str, value: Any, tmp_path: Path
) -> None:
    _, weights = random_files(tmp_path)
    options = make_options()
    options[section][key] = value

    with pytest.raises(ConfigurationError):
        make_bilm(options, weights)


def test_a_pipe_a_device_and_a_folder_are_refused(tmp_path: Path) -> None:
    files, pipe = random_files(tmp_path), tmp_path / "pipe"
    os.mkfifo(pipe)

    for place, kind in ((pipe, "pipe"), (Path("/dev/zero"), "device"), (tmp_path, "folder")):
        for pair in ((place, files[1]), (files[0], place)):
            with pytest.raises(ConfigurationError, match=f"{place} .*{kind}"):
                make_bilm(*pair)

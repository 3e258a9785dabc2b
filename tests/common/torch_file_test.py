import os
import pickle
import zipfile
from pathlib import Path

import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.torch_file import check_torch_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.save({"a": torch.arange(1000.0), "b": [1, "x"]}, tmp_path / "state.th")
    return tmp_path / "state.th"


def refusal(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        check_torch_file(path)
    return str(caught.value).removeprefix(str(path))


def test_what_torch_saves_is_fine(path: Path) -> None:
    check_torch_file(path)

    torch.save({"a": torch.ones(1)}, path, _use_new_zipfile_serialization=False)
    check_torch_file(path)


def test_a_changed_number_is_noticed_that_torch_does_not_notice(path: Path) -> None:
    content = bytearray(path.read_bytes())
    at = content.index(torch.arange(1000.0).numpy().tobytes())
    content[at + 403] ^= 1
    path.write_bytes(content)
    assert not torch.equal(torch.load(path)["a"], torch.arange(1000.0))

    assert refusal(path) == " is damaged: the checksum of 'state/data/0' is wrong"


def test_packed_records_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("state/data.pkl", bytes(10**6))

    assert refusal(path).startswith(" holds 'state/data.pkl' in packed form, as")


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_short_is_refused(path: Path, part: float) -> None:
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])

    assert refusal(path).startswith(" is damaged, or not a file of PyTorch: ")


def test_other_files_are_refused(path: Path, tmp_path: Path) -> None:
    path.write_bytes(pickle.dumps(1, protocol=0))
    os.mkfifo(tmp_path / "pipe")

    assert refusal(path).startswith(" is damaged, or not a file of PyTorch: ")
    assert refusal(tmp_path / "pipe") == " is not a file, but a pipe"

"""Tests what is read; `tests/archives/open_archive_test.py` has what is refused."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.torch_file import read_tensors, read_torch_file

STATE = {"weight": torch.arange(6.0).view(2, 3), "count": torch.tensor(7)}


@pytest.mark.parametrize("is_zip", [True, False])
def test_tensors_of_any_version_of_pytorch_are_read(is_zip: bool, tmp_path: Path) -> None:
    path = tmp_path / "weights.th"
    torch.save(STATE, path, _use_new_zipfile_serialization=is_zip)

    for read in (read_tensors(path), read_torch_file(path, BytesIO(path.read_bytes()))):
        assert read.keys() == STATE.keys()
        assert all(read[name].equal(tensor) for name, tensor in STATE.items())


def test_a_training_state_has_numbers_and_texts(tmp_path: Path) -> None:
    state = {"epoch": 3, "rate": np.float64(0.5), "names": ["a"], "optimizer": {"state": STATE}}
    torch.save(state, tmp_path / "state.th")

    read = read_torch_file(tmp_path / "state.th")

    assert read["names"] == ["a"] and read["rate"] == 0.5
    with pytest.raises(ConfigurationError, match="holds something other than tensors"):
        read_tensors(tmp_path / "state.th")

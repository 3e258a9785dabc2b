"""Tests hashes, distinct rows and files; what is refused is in `archives/open_archive_test.py`."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common import tensors
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tensors import (
    HASH_BYTES,
    distinct_rows,
    hash_bytes,
    hash_tensors,
    read_tensors,
    read_torch_file,
)


def test_a_hash_is_of_16_bytes_and_follows_from_the_content() -> None:
    assert len(hash_bytes(b"")) == HASH_BYTES == 16
    assert hash_bytes(b"boat") == hash_bytes(memoryview(b"boat")) != hash_bytes(b"bank")


def test_tensors_with_other_numbers_shapes_dtypes_or_order_have_other_hashes() -> None:
    x = torch.arange(6, dtype=torch.float32)
    y = torch.ones(2)
    variants = [(x, y), (x + 1, y), (x.reshape(2, 3), y), (x.double(), y), (y, x), (x,), ()]

    hashes = [hash_tensors(*tensors) for tensors in variants]

    assert len(set(hashes)) == len(variants)


def test_equal_tensors_have_the_same_hash_however_they_lie_in_memory() -> None:
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    transposed = x.t().contiguous().t()
    assert not transposed.is_contiguous()

    assert hash_tensors(transposed) == hash_tensors(x) == hash_tensors(x.clone().requires_grad_())


rows = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), max_size=12)


@pytest.mark.parametrize("all_hashes_collide", [False, True])
@given(rows=rows)
def test_each_distinct_row_comes_once_and_each_token_knows_its_row(
    all_hashes_collide: bool, rows: list[list[int]]
) -> None:
    char_ids = torch.tensor(rows, dtype=torch.long).reshape(-1, 3)

    with pytest.MonkeyPatch.context() as patch:
        if all_hashes_collide:
            patch.setattr(tensors, "_factors", lambda char_ids: torch.zeros(3, dtype=torch.long))
        found, index = distinct_rows(char_ids)

    assert torch.equal(found[index], char_ids)
    assert sorted(found.tolist()) == sorted(map(list, {tuple(row) for row in rows}))


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

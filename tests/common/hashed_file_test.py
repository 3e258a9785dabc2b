from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashed_file import read_hashed, write_hashed

TENSORS = {"b": torch.arange(6.0).view(2, 3), "a": torch.ones(2, dtype=torch.int8)}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_hashed(tmp_path / "file", TENSORS, {"of": {"x": "y"}})

    tensors, about = read_hashed(tmp_path / "file", "it", ["of"])

    assert about == {"of": {"x": "y"}} and list(tensors) == ["a", "b"]
    torch.testing.assert_close(tensors, TENSORS, rtol=0, atol=0)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_changed_byte_is_noticed(data: st.DataObject, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("hashed") / "file"
    write_hashed(path, TENSORS, {"of": "x"})
    content = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)

    try:
        tensors, about = read_hashed(path, "it", ["of"])
    except ConfigurationError as error:
        assert str(error).startswith(f"{path} is damaged, or ")
    else:
        # A byte may be padding, or white space of the JSON.
        assert about == {"of": "x"}
        torch.testing.assert_close(tensors, TENSORS, rtol=0, atol=0)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="none"):
        read_hashed(tmp_path / "none", "it", ["of"])

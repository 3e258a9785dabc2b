import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm.native import library
from elmo_tasks.bilm.native.library import kernels


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Forgets the loaded library; a new one is looked for in an empty folder, which this yields."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ELMO_TASKS_NATIVE", raising=False)
    for cached in (library._library, library.kernels):
        cached.cache_clear()
    yield tmp_path / "elmo_tasks" / "native"
    for cached in (library._library, library.kernels):
        cached.cache_clear()


def test_it_is_compiled_once_into_a_folder_of_the_user(fresh: Path) -> None:
    if kernels("cpu", torch.float32) is None:
        pytest.skip("there is no compiler here")
    (built,) = fresh.iterdir()
    before = built.stat().st_mtime_ns
    library._library.cache_clear()

    assert library._library() is not None
    assert [path.name for path in fresh.iterdir()] == [built.name]
    assert built.stat().st_mtime_ns == before
    assert fresh.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "variable, value, reason",
    [
        ("ELMO_TASKS_NATIVE", "0", "ELMO_TASKS_NATIVE is 0"),
        ("CXX", "no-such-compiler", "There is no C++ compiler"),
        ("CXX", "false", "kernels.cpp cannot be compiled and loaded"),
    ],
)
def test_without_it_the_reason_is_said_once(
    fresh: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    variable: str,
    value: str,
    reason: str,
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv(variable, value)

    assert kernels("cpu", torch.float32) is None
    assert kernels("cpu", torch.bfloat16) is None
    assert caplog.text.count(reason) == 1


def test_a_folder_to_which_others_can_write_is_not_used(
    fresh: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    fresh.mkdir(parents=True)
    os.chmod(fresh, 0o777)

    assert kernels("cpu", torch.float32) is None
    assert "others than the user can write to" in caplog.text


@pytest.mark.parametrize("device, dtype", [("cuda", torch.float32), ("cpu", torch.float64)])
def test_other_devices_and_dtypes_have_none(device: str, dtype: torch.dtype) -> None:
    assert kernels(device, dtype) is None


def test_a_tensor_of_another_layout_is_refused() -> None:
    compiled = kernels("cpu", torch.float32)
    if compiled is None:
        pytest.skip("there is no compiler here")
    gates, memory = torch.zeros(2, 8), torch.zeros(2, 2)

    with pytest.raises(ValueError, match="expected a contiguous tensor of torch.float32"):
        compiled.step(torch.zeros(8, 2).t(), gates, memory, 1.0, memory, None)
    with pytest.raises(ValueError, match="got one of torch.float64"):
        compiled.step(gates.double(), gates, memory, 1.0, memory, None)

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from elmo_tasks.kernels.native import library
from elmo_tasks.kernels.native.library import kernels


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


def test_it_is_compiled_once_into_a_folder_of_the_user(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk = []
    monkeypatch.setattr(os, "fsync", lambda handle: on_disk.append(os.fstat(handle).st_ino))
    if kernels("cpu", torch.float32) is None:
        pytest.skip("there is no compiler here")
    (built,) = fresh.iterdir()
    assert on_disk == [built.stat().st_ino]
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
    assert "other users can write to" in caplog.text


@pytest.mark.parametrize("num_broken", [1, 3])
def test_a_broken_file_is_compiled_again_once(
    fresh: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    num_broken: int,
) -> None:
    caplog.set_level(logging.INFO)
    run = library._run
    compiled = []

    def break_the_first(command: list[str]) -> str:
        if "-o" in command:
            compiled.append(command)
            if len(compiled) <= num_broken:
                return ""
        return run(command)

    monkeypatch.setattr(library, "_run", break_the_first)
    loaded = kernels("cpu", torch.float32)
    if not compiled:
        pytest.skip("there is no compiler here")

    assert len(compiled) == 2
    assert (loaded is None) == (num_broken == 3) == ("compiled and loaded" in caplog.text)


def test_a_user_without_a_home_has_none(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    caplog.set_level(logging.INFO)
    monkeypatch.setenv("CXX", "true")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)

    assert kernels("cpu", torch.float32) is None
    assert "Could not determine home directory" in caplog.text


def test_a_folder_in_which_nothing_may_be_run_is_not_used(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=os.ST_NOEXEC))

    assert kernels("cpu", torch.float32) is None
    assert "no file in" in caplog.text and list(fresh.iterdir()) == []


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

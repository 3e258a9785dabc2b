import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import torch

from elmo_tasks.kernels import compiled, steps
from elmo_tasks.kernels.compiled import kernels

ROOT = Path(__file__).parents[2]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forgets the loaded library before and after a test."""
    monkeypatch.delenv("ELMO_TASKS_NATIVE", raising=False)
    for cached in (compiled._library, compiled.kernels):
        cached.cache_clear()
    yield
    for cached in (compiled._library, compiled.kernels):
        cached.cache_clear()


def built(tmp_path: Path, files: Iterable[str] = (), **env: str) -> list[str]:
    """
    Compiles the kernels of a copy of the source, and returns the names of the files. Compiled
    `files` are copied too, and compiled again only if the source is newer.
    """
    inside = ("elmo_tasks/__init__.py", "elmo_tasks/kernels/kernels.cpp", *files)
    for name in ("setup.py", "README.md", "LICENSE", "NOTICE", *inside):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, **env})
    return sorted(path.name for path in tmp_path.rglob("kernels/*.so"))


@pytest.mark.parametrize(
    "variable, value", [("CXX", "no-such-compiler"), ("CXX", "false"), ("ELMO_TASKS_NATIVE", "0")]
)
def test_without_a_compiler_there_are_no_files_and_no_error(
    tmp_path: Path, variable: str, value: str
) -> None:
    assert built(tmp_path, **{variable: value}) == []


def test_there_is_a_file_for_each_set_of_instructions_and_all_compute_the_same(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("there is no compiler here")
    # `make test` has compiled those of the checkout.
    ours = (str(path.relative_to(ROOT)) for path in ROOT.glob("build/lib.*/elmo_tasks/kernels/*"))
    names = built(tmp_path, ours, ELMO_TASKS_NATIVE="1")
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "elmo_tasks/kernels/compiled.py"))
    gates, recurrent, before = torch.randn(2, 68), torch.randn(2, 68), torch.randn(2, 17)

    # PyTorch's name of the instructions of this CPU, and of those that it has besides.
    own, found = torch.backends.cpu.get_cpu_capability(), {}
    for capability in ("DEFAULT", *["AVX2"] * (own == "AVX512"), own):
        compiled._library.cache_clear()
        compiled.kernels.cache_clear()
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)  # noqa: B023
        functions, memory, hidden = kernels("cpu", torch.float32), before.clone(), before.clone()
        assert functions is not None
        functions.step(2, 17, gates.clone(), recurrent, memory, 0.5, hidden, None)
        library = compiled._library()
        assert library is not None
        found[Path(library._name).name] = hidden

    expected = torch.empty(2, 17)
    monkeypatch.setattr(steps, "kernels", lambda *_: None)
    steps.step(gates, recurrent, before, 0.5, expected)
    assert set(found) <= set(names) and "kernels.plain.so" in found
    assert own == "DEFAULT" or f"kernels.{own.lower()}.so" in found
    for hidden in found.values():
        torch.testing.assert_close(hidden, expected, rtol=1e-5, atol=3e-6)


@pytest.mark.parametrize(
    "source, content, native, reason",
    [
        ("kernels.cpp", b"", "0", "ELMO_TASKS_NATIVE is 0"),
        ("kernels.cpp", None, "1", "no C++ compiler made it"),
        ("kernels.cpp", b"", "1", "is older than kernels.cpp"),
        ("no.cpp", b"", "1", "file too short"),
    ],
)
def test_without_it_the_reason_is_said_once(
    fresh: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    source: str,
    content: bytes | None,
    native: str,
    reason: str,
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("ELMO_TASKS_NATIVE", native)
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "compiled.py"))
    monkeypatch.setattr(compiled, "_SOURCE", tmp_path / source)
    (tmp_path / "kernels.cpp").touch()
    for name in (*compiled._FILES.values(), "kernels.plain.so"):
        if content is not None:
            (tmp_path / name).write_bytes(content)
            os.utime(tmp_path / name, (0, 0))

    assert kernels("cpu", torch.float32) is None
    assert kernels("cpu", torch.bfloat16) is None
    assert caplog.text.count(reason) == caplog.text.count("which are slower") == 1


@pytest.mark.parametrize("device, dtype", [("cuda", torch.float32), ("cpu", torch.float64)])
def test_other_devices_and_dtypes_have_none(device: str, dtype: torch.dtype) -> None:
    assert kernels(device, dtype) is None


def test_a_tensor_of_another_layout_is_refused() -> None:
    functions = kernels("cpu", torch.float32)
    if functions is None:
        pytest.skip("the kernels are switched off or were not compiled")
    gates, memory = torch.zeros(2, 8), torch.zeros(2, 2)

    with pytest.raises(ValueError, match="expected a contiguous tensor of torch.float32"):
        functions.step(2, 2, torch.zeros(8, 2).t(), gates, memory, 1.0, memory, None)
    with pytest.raises(ValueError, match="got torch.float64 with strides"):
        functions.step(2, 2, gates.double(), gates, memory, 1.0, memory, None)

from pathlib import Path

import pytest

from benchmarks import machine as module
from benchmarks.machine import machine
from elmo_tasks.analysis.environment import cpu_name

BENCHMARKS = Path(module.__file__).parent


def test_the_cpu_its_flags_and_the_variables_that_are_set_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "cpu_flags", lambda: {"fpu", "avx512f", "avx2"})
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)

    found = machine()

    assert found.startswith(cpu_name()) and "(flags: avx2, avx512f)" in found
    assert "ONEDNN_MAX_CPU_ISA=AVX2" in found and "ATEN_CPU_CAPABILITY" not in found


def test_every_benchmark_describes_the_machine() -> None:
    scripts = {str(path): path.read_text(encoding="utf-8") for path in BENCHMARKS.rglob("*.py")}
    benchmarks = [name for name, script in scripts.items() if "def main(" in script]
    assert len(benchmarks) > 8

    lacking = [name for name in benchmarks if "machine()" not in scripts[name]]

    assert lacking == []

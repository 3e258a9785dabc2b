"""The description of the machine beside each table."""

import os
import re
from pathlib import Path

from elmo_tasks.analysis.environment import machine as cpu_and_cores

# What decides which products are fast: vectors of 256 and 512 bits, and units for bfloat16.
FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")

# The variables that restrict the instructions of oneDNN, PyTorch, MKL and our own functions.
VARIABLES = (
    "ONEDNN_MAX_CPU_ISA",
    "ATEN_CPU_CAPABILITY",
    "MKL_ENABLE_INSTRUCTIONS",
    "ELMO_TASKS_NATIVE",
)


def machine() -> str:
    """
    Returns the CPU, the number of its cores, those of `FLAGS` that it has, and those of `VARIABLES`
    that are set.
    """
    flags = ", ".join(flag for flag in FLAGS if flag in cpu_flags()) or "none"
    names = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    return ", ".join([f"{cpu_and_cores()} (flags: {flags})", *names])


def cpu_flags() -> set[str]:
    """Returns all flags of the CPU, which Linux tells, or none on another system."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    match = re.search(r"^flags\s*: (.+)$", text, re.MULTILINE)
    return set(match[1].split()) if match else set()

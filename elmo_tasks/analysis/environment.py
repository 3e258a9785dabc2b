import os
import platform
import re
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import torch


def describe_environment() -> dict[str, Any]:
    """Returns the command, the date, the machine and the version of PyTorch, for reports."""
    program = "elmo-tasks" if Path(sys.argv[0]).stem == "elmo-tasks" else "allennlp"
    return {
        "command": shlex.join([program, *sys.argv[1:]]),
        "date": datetime.now().astimezone().isoformat(sep=" ", timespec="minutes"),
        "machine": {
            "cpu": cpu_name(),
            "cores": f"{os.cpu_count()} cores",
            "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        },
        "torch": torch.__version__,
    }


def machine() -> str:
    """Returns the name of the CPU and the number of its cores, for the heading of a table."""
    return f"{cpu_name()}, {os.cpu_count()} cores"


def cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    match = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return match[1] if match else platform.processor() or platform.machine()

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture()
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mounts a disk of 96 kB, where this process may."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("this process may not mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)

import subprocess
import sys
from pathlib import Path

from benchmarks.checkouts import link
from benchmarks.harness import ROOT

NAMES = "from elmo_tasks.common import package_data as d; print(d.__file__, d.config_folder())"


def test_the_package_of_a_checkout_reads_the_configs_of_that_checkout(tmp_path: Path) -> None:
    link(ROOT, tmp_path / "linked")

    ended = subprocess.run(
        [sys.executable, "-P", "-c", NAMES],
        env={"PYTHONPATH": str(tmp_path / "linked")},
        capture_output=True,
        text=True,
    )

    package, configs = ended.stdout.split()
    assert package.startswith(str(tmp_path)) and configs.startswith(str(tmp_path)), ended.stderr

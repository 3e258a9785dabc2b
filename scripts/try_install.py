"""
Builds both distributions, installs them in new environments, on several Pythons, and uses them
there from an empty folder, as somebody who has no copy of this repository. Prints a table.

    python scripts/try_install.py                           # this Python, default sizes
    python scripts/try_install.py --python 3.11 3.13 --sizes core
    python scripts/try_install.py --borrow torch torchvision  # without their gigabytes
    python scripts/try_install.py --borrow torch torchvision --jobs 2     # as CI: two at once
    python scripts/try_install.py --borrow torch torchvision --dist dist  # as `make release`
    python scripts/try_install.py --lowest --sizes core     # the lowest versions of setup.py

`--lowest` needs uv (`make build/uv`), which finds the lowest versions that go together.

There is no C++ compiler in the new environments: the wheel must bring the compiled functions, and
the source distribution must work without them. `scripts/installed_checks.py` has the checks. Needs
a network or a full cache of pip, and 6 GB of disk for each environment, unless PyTorch is borrowed.
"""

import argparse
import email
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]

# What is installed for each size, one list of arguments of `pip install` after the other.
INSTALLED = {
    "core": [["{wheel}"]],
    "source": [["{sdist}"]],
    "extras": [["{wheel}[models,sklearn,spacy]"]],
    "plugin": [["{wheel}[allennlp,models]"], ["--no-deps", "allennlp==2.10.1"]],
}


def main() -> None:
    args = parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(Path(args.dist or folder).resolve())
        all_passed = True
        print("| Python | size | seconds to install | MB | seconds of checks | passed |")
        print("| --- | --- | --- | --- | --- | --- |", flush=True)

        def try_size(python_and_size: tuple[str, str]) -> tuple[list[str], list[dict]]:
            folder_of_size = Path(folder, f"{Path(python_and_size[0]).name}-{python_and_size[1]}")
            try:
                return try_one(*python_and_size, wheel, folder_of_size, args)
            finally:
                shutil.rmtree(folder_of_size, ignore_errors=True)

        with ThreadPoolExecutor(args.jobs) as pool:
            for cells, checks in pool.map(try_size, product(args.python, args.sizes)):
                failed = [check["check"] for check in checks if check["error"] is not None]
                all_passed = all_passed and not failed
                passed = f"{len(checks) - len(failed)} of {len(checks)}"
                seconds = f"{sum(check['seconds'] for check in checks):.0f}"
                cells += [seconds, f"{passed} without {', '.join(failed)}" if failed else passed]
                print(f"| {' | '.join(cells)} |", flush=True)
    sys.exit(not all_passed)


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Tries the package in new environments.")
    add = parser.add_argument
    add(
        "--python",
        nargs="+",
        default=[sys.executable],
        help="the interpreters, each a path or, as 3.12, a version (default: this one)",
    )
    add(
        "--sizes",
        nargs="+",
        choices=INSTALLED,
        default=list(INSTALLED),
        help="what to try: core; source, the core from its source; extras, the core with models, "
        "spaCy and scikit-learn; or plugin, with models (default: all)",
    )
    add(
        "--borrow",
        nargs="+",
        default=[],
        metavar="PACKAGE",
        help="packages that the new environment shares with this one, with all that they need; "
        "they must be of the same Python",
    )
    add("--dist", metavar="DIR", help="put the distributions here and keep them")
    add("--jobs", type=int, default=1, help="environments to make at once (default: 1)")
    add("--lowest", action="store_true", help="install the lowest versions that setup.py names")
    return parser.parse_args()


def build(folder: Path, compiled: bool = True) -> str:
    """
    Puts both distributions of the repository into a folder: elmo-tasks as a source distribution and
    the wheels that are built from it, with compiled functions and without; elmo-tasks-models as a
    wheel. Returns the path of the wheel of elmo-tasks, with compiled functions if there is a
    compiler. If not `compiled`, the wheel with compiled functions is left out.
    """
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as copy:
        # Setuptools leaves a folder `build` in its source.
        source = Path(copy)
        for name in ("elmo_tasks", "training_configs"):
            shutil.copytree(ROOT / name, source / name)
        for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
            shutil.copy(ROOT / name, source)
        script = "import setuptools.build_meta as b, sys; print(b.build_sdist(sys.argv[1]))"
        built = run([sys.executable, "-c", script, str(folder)], cwd=source)
        sdist = folder / built.splitlines()[-1]
        pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
        if compiled:
            run([*pip, "-w", str(folder), str(sdist)])
        run(
            [*pip, "-w", str(folder), str(sdist), str(source / "elmo_tasks" / "pretrained")],
            env={**os.environ, "ELMO_TASKS_NATIVE": "0"},
        )
    for path in folder.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            has_compiled = any(name.endswith(".so") for name in archive.namelist())
        assert has_compiled == ("linux" in path.name), path.name
    # "none-any" comes before "none-linux_x86_64".
    return str(max(folder.glob("elmo_tasks-*.whl")))


def try_one(
    python: str, size: str, wheel: str, root: Path, args: argparse.Namespace
) -> tuple[list[str], list[dict]]:
    """
    Makes an environment in the folder `root`, installs a size, and runs its checks. Returns the
    first cells of its row, and the checks.
    """
    program = f"python{python}" if python[0].isdigit() else python
    run([program, "-m", "venv", "--clear", str(root / "venv")])
    new = str(root / "venv" / "bin" / "python")
    # Where the extra `models` finds the other distribution.
    install = [new, "-m", "pip", "install", "-q", "--find-links", str(Path(wheel).parent)]
    (sdist,) = Path(wheel).parent.glob("*.tar.gz")
    steps = [[part.format(wheel=wheel, sdist=sdist) for part in step] for step in INSTALLED[size]]
    for package in args.borrow:
        borrow(package, Path(sysconfig.get_path("purelib", vars={"base": root / "venv"})))
    began = time.monotonic()
    if args.lowest:
        bounds = root / "lowest.txt"
        bounds.write_text(lowest(wheel, steps[0][0], new))
        install += ["-c", str(bounds)]
    for step in steps:
        run([*install, *step], env={**os.environ, "CXX": "no-such-compiler"})
    seconds = time.monotonic() - began
    work = root / "empty"
    work.mkdir()
    checks = run(
        [new, str(ROOT / "scripts" / "installed_checks.py"), size],
        cwd=work,
        # The repository must not be found, nor a plugin of the user.
        env={
            **{name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"},
            **{"HOME": str(work), "PYTHONPATH": "", "PYTHONSAFEPATH": "1"},
        },
    )
    results = [json.loads(line) for line in checks.splitlines() if line.startswith('{"check"')]
    version = run([new, "-c", "import platform; print(platform.python_version())"]).strip()
    files = (path for path in (root / "venv").rglob("*") if path.is_file())
    megabytes = sum(path.stat().st_size for path in files if not path.is_symlink()) / 1e6
    return [version, size, f"{seconds:.0f}", f"{megabytes:,.0f}"], results


def lowest(wheel: str, installed: str, python: str) -> str:
    """
    Returns the lowest versions of all that the wheel needs for what is installed of it, such as
    `WHEEL[models]`, a line each: `name==1.2`. What is needed by these in turn is the newest.
    """
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(file.read(name))
    _, _, extras = installed.rstrip("]").partition("[")
    requirement_texts = []
    for requirement in map(Requirement, metadata.get_all("Requires-Dist", [])):
        marker, requirement.marker = requirement.marker, None
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras.split(",")):
            requirement_texts.append(str(requirement))
    places = os.pathsep.join([str(ROOT / "build" / "uv" / "bin"), os.environ["PATH"]])
    uv = shutil.which("uv", path=places)
    if uv is None:
        sys.exit("--lowest needs uv: make build/uv")
    command = [uv, "pip", "compile", "-q", "--resolution", "lowest-direct", "--python", python]
    command += ["--find-links", str(Path(wheel).parent), "--no-annotate", "--no-header", "-"]
    return run(command, input="\n".join(requirement_texts))


def borrow(package: str, site_packages: Path) -> None:
    """
    Copies an installed package, and all packages that it needs, into another environment. The
    copies are hard links where the file system allows, so they take neither time nor space.
    """
    distribution = importlib.metadata.distribution(package)
    for path in distribution.files or ():
        source, target = Path(str(distribution.locate_file(path))), site_packages / path
        if ".." in path.parts or target.exists() or not source.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError:
            shutil.copy(source, target)
    for line in distribution.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            borrow(requirement.name, site_packages)


def run(command: list[str], **options) -> str:
    """Runs a command and returns its standard output; its errors are shown."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


if __name__ == "__main__":
    main()

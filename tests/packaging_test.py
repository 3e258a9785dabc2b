import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from allennlp.common.plugins import discover_plugins

from elmo_tasks import __version__
from scripts.try_install import build

ROOT = Path(__file__).parents[1]
KERNELS = "elmo_tasks/kernels/kernels.cpp"


def run(*command: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess:
    # A `make` that runs these tests must not hand on its variables.
    ours = ("MAKEFLAGS", "MAKELEVEL", "PYTHON", "ONEDNN_MAX_CPU_ISA")
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        command, cwd=cwd, env={**inherited, **env}, capture_output=True, text=True
    )


def test_the_plugin_is_found_from_the_repository() -> None:
    assert "elmo_tasks" in discover_plugins()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions as their wheels install them."""
    folder = tmp_path_factory.mktemp("wheels")
    # scripts/try_install.py builds and uses the wheel with compiled functions, too.
    build(folder, compiled=False)
    for path in folder.glob("*.whl"):
        assert __version__ in path.name
        with zipfile.ZipFile(path) as archive:
            is_models = path.name.startswith("elmo_tasks_models-")
            assert is_models or path.stat().st_size < 10_000_000
            for name in archive.namelist():
                assert ("elmo_tasks_models" in name) == is_models
            archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheels_have_every_file_of_the_package_and_every_config(installed: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "elmo_tasks", "training_configs"], cwd=ROOT, capture_output=True
    )
    tracked = listed.stdout.decode().split()

    pretrained, mini = "elmo_tasks/pretrained/", "elmo_tasks/pretrained/mini/"
    assert len(tracked) > 200
    for name in set(tracked) - {f"{pretrained}setup.py", f"{pretrained}LICENSE", KERNELS}:
        inside = name if name.startswith("elmo_tasks/") else f"elmo_tasks/{name}"
        if name.startswith(pretrained) and not name.startswith(mini):
            inside = name.replace(pretrained, "elmo_tasks_models/")
        assert (installed / inside).read_bytes() == (ROOT / name).read_bytes(), name


def test_names_are_those_of_the_second_distribution_or_say_how_to_get_it(installed: Path) -> None:
    script = """
import glob, os, shutil, torch
is_there = not os.fork()
if not is_there:
    os.wait()
    shutil.rmtree(*glob.glob("elmo_tasks_models-*.dist-info"))
from elmo_tasks.elmo.locate import locate_bilm
from elmo_tasks.archives.known_models import KNOWN_MODELS, model_path
if is_there:
    files = (*locate_bilm("mini").files, *locate_bilm("base").files)
    print(*(str(path).split("site/")[1] for path in files))
    print(*KNOWN_MODELS, model_path("snli").split("site/")[1])
    print("@@@", flush=True)
    os._exit(0)
for find, name in ((locate_bilm, "base"), (model_path, "ner")):
    try:
        find(name)
    except ValueError as error:
        print(error)
"""

    result = run(sys.executable, "-c", script, cwd=installed, PYTHONPATH=str(installed))

    there, _, gone = result.stdout.partition("@@@\n")
    files = ["options.json", "weights.hdf5"]
    assert there.split() == [
        *(f"elmo_tasks/pretrained/mini/{file}" for file in files),
        *(f"elmo_tasks_models/base/{file}" for file in files),
        *("coref", "ner", "snli", "squad", "srl", "sst"),
        "elmo_tasks_models/models/snli",
    ], result.stderr
    assert gone.splitlines() == [
        f"{name} is part of the package elmo-tasks-models, which is not installed: "
        "pip install 'elmo-tasks[models]'"
        for name in ("base", "ner")
    ], result.stderr


def test_a_config_of_the_wheel_is_whole(installed: Path, tmp_path: Path) -> None:
    script = """
import json, sys
import _jsonnet
from elmo_tasks.common.package_data import config_folder, config_path, import_jsonnet
text = "import 'elmo_tasks/sst/both.jsonnet'"
config = json.loads(_jsonnet.evaluate_snippet("", text, import_callback=import_jsonnet))
assert config == json.loads(_jsonnet.evaluate_file(config_path("elmo_tasks:sst/both")))
print(config_folder())
print(json.dumps(config["model"]["text_embedder"]["bilm"]["options"]))
"""

    result = run(sys.executable, "-c", script, cwd=tmp_path, PYTHONPATH=str(installed))

    assert result.returncode == 0, result.stderr
    folder, options = result.stdout.splitlines()
    assert folder == str(installed / "elmo_tasks" / "training_configs")
    shipped = ROOT / "elmo_tasks" / "pretrained" / "base" / "options.json"
    assert json.loads(options) == json.loads(shipped.read_text())


def test_each_requirement_is_locked_with_hashes() -> None:
    wanted = (ROOT / "requirements.in").read_text().splitlines()
    locked = (ROOT / "requirements.txt").read_text().replace("\\\n", "").splitlines()

    pins = [line.split("--hash=") for line in locked if not line.startswith("#")]
    assert [pin.strip().replace("'", '"') for pin, *_ in pins] == [
        line for line in wanted if not line.startswith("#")
    ], "run `make lock`"
    for pin, *hashes in pins:
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", each) for each in hashes), pin


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Returns a folder with the files that `make` needs, and without an environment."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for name in ("Makefile", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def fake_python(path: Path, version: str) -> Path:
    """
    Writes a program that says it is Python of this version. It makes environments with copies of
    itself, and adds a line to ran.txt for each other command.
    """
    path.write_text(
        f"""#!/bin/sh
case "$*" in
    *version_info*) echo {version} ;;
    *base_prefix*) echo "{path.name} {version}" ;;
    "-m venv --clear "*) rm -rf $4; mkdir -p $4/bin; cp "$0" $4/bin/python ;;
    *) echo "$*" >> ran.txt; test ! -e fails ;;
esac
""",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("target", ["demo", "test", "check"])
@pytest.mark.parametrize(
    ("script", "reason"), [("echo 3.9", "is 3.9"), ("exit 127", "does not run")]
)
def test_an_unsupported_python_is_refused_in_one_line(
    checkout: Path, target: str, script: str, reason: str
) -> None:
    python = checkout / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)

    result = run("make", target, f"PYTHON={python}", cwd=checkout)

    assert result.returncode != 0
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "Python 3.11, 3.12 and 3.13" in line
    assert f"{python} {reason}" in line
    assert not (checkout / ".venv").exists()


def make_test(checkout: Path, *args: str) -> list[str]:
    """
    Runs `make test`, and returns what it ran: pip and compileall if it made .venv, setup.py for the
    kernels, and pytest.
    """
    (checkout / "ran.txt").unlink(missing_ok=True)
    run("make", "test", *args, cwd=checkout)
    commands = [line.split() for line in (checkout / "ran.txt").read_text().splitlines()]
    return [words[words[0] == "-m"] for words in commands]


def test_the_environment_is_made_when_it_has_to_be(checkout: Path) -> None:
    used = ["setup.py", "pytest"]
    made = ["pip", "pip", "compileall", *used]
    python = f"PYTHON={fake_python(checkout / 'one', '3.12')}"
    another = f"PYTHON={fake_python(checkout / 'another', '3.12')}"

    # One that is half made is made again.
    (checkout / "fails").touch()
    assert make_test(checkout, python) == ["pip"]
    (checkout / "fails").unlink()
    assert make_test(checkout, python) == made
    assert make_test(checkout, python) == used
    assert make_test(checkout) == used

    with (checkout / "requirements.txt").open("a") as file:
        file.write("one-more==1.0\n")
    assert make_test(checkout, python) == made
    assert make_test(checkout, another) == made
    assert make_test(checkout, another) == used

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

WITHOUT_ALLENNLP = """
import sys
sys.modules["allennlp"] = None
import elmo_tasks.plugin
"""

IMPORT_PLUGINS = """
from allennlp.common.plugins import import_plugins
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
import_plugins()
print(LearningRateScheduler.by_name("reduce_on_plateau").__module__)
"""


def run(*command: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess:
    # A `make` that runs these tests must not hand on its variables.
    ours = ("MAKEFLAGS", "MAKELEVEL", "PYTHON", "ONEDNN_MAX_CPU_ISA")
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        command, cwd=cwd, env={**inherited, **env}, capture_output=True, text=True
    )


def test_without_allennlp_one_sentence_says_what_to_run() -> None:
    result = run(sys.executable, "-c", WITHOUT_ALLENNLP)

    assert result.returncode == 1
    assert result.stderr.count("Traceback") == 1
    assert result.stderr.splitlines()[-1] == (
        "ImportError: this part of elmo_tasks needs AllenNLP and the versions it is tested with,"
        " which `pip install --no-deps -r requirements.txt` installs from its repository"
    )


def test_the_plugin_is_found_from_the_repository() -> None:
    result = run(sys.executable, "-c", IMPORT_PLUGINS)

    assert result.stdout.splitlines()[-1] == "elmo_tasks.compat", result.stderr


def test_the_installed_plugin_is_found_from_the_home_directory(tmp_path: Path) -> None:
    (tmp_path / "home/.allennlp").mkdir(parents=True)
    (tmp_path / "home/.allennlp/plugins").write_text("elmo_tasks\n")
    (tmp_path / "work").mkdir()

    result = run(
        sys.executable, "-c", IMPORT_PLUGINS, cwd=tmp_path / "work", HOME=str(tmp_path / "home")
    )

    assert result.stdout.splitlines()[-1] == "elmo_tasks.compat", result.stderr


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
    itself, and adds a line to ran.txt for each other command: the arguments, and the CPU that
    oneDNN is to take this one for.
    """
    path.write_text(
        f"""#!/bin/sh
case "$*" in
    *version_info*) echo {version} ;;
    *base_prefix*) echo "{path.name} {version}" ;;
    "-m venv --clear .venv") rm -rf .venv; mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
    *) echo "$* $ONEDNN_MAX_CPU_ISA" >> ran.txt; test ! -e fails ;;
esac
"""
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


def made(checkout: Path, target: str, *args: str) -> list[list[str]]:
    """Runs `make`, and returns the words of each command that it gave to Python."""
    (checkout / "ran.txt").unlink(missing_ok=True)
    run("make", target, *args, cwd=checkout)
    return [line.split() for line in (checkout / "ran.txt").read_text().splitlines()]


def make_test(checkout: Path, *args: str) -> list[str]:
    """Runs `make test`, and returns the modules that it ran: pip if it made .venv, and pytest."""
    return [words[1] for words in made(checkout, "test", *args)]


def test_the_environment_is_made_when_it_has_to_be(checkout: Path) -> None:
    made, used = ["pip", "pip", "pytest"], ["pytest"]
    python = f"PYTHON={fake_python(checkout / 'one', '3.12')}"
    another = f"PYTHON={fake_python(checkout / 'another', '3.12')}"

    assert make_test(checkout, python) == made
    assert make_test(checkout, python) == used
    assert make_test(checkout) == used

    with (checkout / "requirements.txt").open("a") as file:
        file.write("one-more==1.0\n")
    assert make_test(checkout, python) == made
    assert make_test(checkout, another) == made
    assert make_test(checkout, another) == used


def test_a_half_made_environment_is_made_again(checkout: Path) -> None:
    python = f"PYTHON={fake_python(checkout / 'one', '3.12')}"

    (checkout / "fails").touch()
    assert make_test(checkout, python) == ["pip"]
    (checkout / "fails").unlink()
    assert make_test(checkout, python) == ["pip", "pip", "pytest"]


def test_check_runs_the_numeric_tests_a_second_time_as_on_a_cpu_without_avx512(
    checkout: Path,
) -> None:
    python = f"PYTHON={fake_python(checkout / 'one', '3.12')}"

    *_, types, every_test, numeric_tests, faults = made(checkout, "check", python)

    assert types == ["-m", "mypy"]
    assert every_test == ["-m", "pytest", "-n", "2", "-q"]
    folders = [word for word in numeric_tests if word.startswith("tests/")]
    assert numeric_tests == [*every_test, *folders, "AVX2"]
    assert len(folders) >= 6 and all((ROOT / folder).is_dir() for folder in folders)
    assert made(checkout, "test-avx2", python) == [numeric_tests]
    assert faults[:2] == ["-m", "scripts.faults"]

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.commands import install_allennlp
from elmo_tasks.commands import setup as command
from elmo_tasks.commands.setup import Setup

INSTALLS = [
    ["install", "elmo-tasks[allennlp]", "torch==2.13.0"],
    ["install", "--no-deps", "allennlp==2.10.1"],
]


# What a dry run of each command plans.
PLANS = [{"transformers": "4.49.0", "nltk": "3.9"}, {"allennlp": "2.10.1"}]


def dry_run(words: list[str]) -> subprocess.CompletedProcess:
    plan = PLANS["--no-deps" in words]
    if "--report" in words:
        packages = [{"metadata": {"name": name, "version": plan[name]}} for name in plan]
        return subprocess.CompletedProcess(words, 0, json.dumps({"install": packages}), "")
    lines = [f" + {name}=={version}\n" for name, version in plan.items()]
    said = f"Resolved 9 packages in 7ms\n{''.join(lines)} - transformers==5.0\n"
    return subprocess.CompletedProcess(words, 0, "", said)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """
    The commands that the setup of an environment without AllenNLP runs, but for dry runs; none does
    anything.
    """
    commands = []

    def run(words: list[str], **options) -> subprocess.CompletedProcess:
        if "--dry-run" in words:
            return dry_run(words)
        commands.append(words)
        return subprocess.CompletedProcess(words, 0, "", "")

    versions = {"elmo-tasks": "0.1.0", "torch": "2.13.0", "transformers": "5.0", "spacy": "3.8.1"}
    monkeypatch.setattr(command, "has_allennlp", lambda: False)
    monkeypatch.setattr(subprocess, "run", run)
    metadata = install_allennlp.metadata
    monkeypatch.setattr(metadata, "version", lambda name: version_of(versions, name))
    monkeypatch.setattr(install_allennlp, "find_spec", lambda name: object())
    monkeypatch.setenv("HOME", str(tmp_path))
    return commands


def version_of(versions: dict[str, str], name: str) -> str:
    if name not in versions:
        raise install_allennlp.metadata.PackageNotFoundError(name)
    return versions[name]


def set_up(*arguments: str) -> None:
    args = Setup().parser("elmo-tasks setup").parse_args(arguments)
    args.func(args)


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], str] | None) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: answer is not None, raising=False)
    monkeypatch.setattr("builtins.input", answer)


@pytest.mark.parametrize("how", ["--yes", "y", " YES\n"])
def test_allennlp_is_installed_by_who_agrees_after_the_commands_were_said(
    how: str,
    ran: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    said_before = []

    def answer(prompt: str) -> str:
        said_before.append(capsys.readouterr().out)
        return how

    at_a_terminal(monkeypatch, None if how == "--yes" else answer)

    set_up(*["--yes"] * (how == "--yes"))

    pip = [sys.executable, "-m", "pip"]
    assert ran[:2] == [pip + install for install in INSTALLS]
    said = "".join([*said_before, capsys.readouterr().out])
    for words in ran[:2]:
        assert f"  {shlex.join(words)}\n" in said
    assert said.count("works: ") == len(install_allennlp._CHECKS) == len(ran) - 2
    assert (Path.home() / ".allennlp" / "plugins").read_text() == "elmo_tasks\n"


@pytest.mark.parametrize("answer", ["", "n", None])
def test_nothing_is_installed_without_a_yes_and_nobody_is_asked_without_a_terminal(
    answer: str | None, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch, None if answer is None else lambda prompt: answer)

    with pytest.raises(SystemExit, match="nothing was installed; the option --yes installs"):
        set_up()

    assert not ran and not (Path.home() / ".allennlp").exists()


def test_uv_installs_where_there_is_no_pip(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_allennlp, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    set_up("--yes")

    python = ["--python", sys.executable]
    assert ran[:2] == [["/bin/uv", "pip", "install", *python, *words[1:]] for words in INSTALLS]

    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SystemExit, match="has no pip, and there is no uv: `python -m ensurepip`"):
        set_up("--yes")


@pytest.mark.parametrize("program", ["pip", "uv"])
def test_all_that_is_installed_and_replaced_is_said_before_somebody_agrees(
    program: str,
    ran: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.setattr(
        install_allennlp, "find_spec", lambda name: object() if program == "pip" else None
    )
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")

    with pytest.raises(SystemExit, match="nothing was installed"):
        set_up()

    said = capsys.readouterr().out
    assert "They install: allennlp 2.10.1, nltk 3.9.\n" in said
    assert "They replace: transformers 5.0 by 4.49.0. PyTorch stays as it is.\n" in said
    assert not ran


def test_a_plan_that_cannot_be_made_ends_the_setup(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "no such option: --dry-run\n")
    monkeypatch.setitem(globals(), "dry_run", lambda words: failed)

    with pytest.raises(SystemExit, match="this command failed: .* --dry-run"):
        set_up("--yes")

    assert "no such option: --dry-run\n" in capsys.readouterr().err and not ran


@pytest.mark.parametrize("there", [True, False])
def test_a_pytorch_without_cuda_gets_the_torchvision_of_its_index(
    there: bool, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {"elmo-tasks": "0.1.0", "torch": "2.13.0+cpu"}
    versions |= {"torchvision": "0.28.0+cpu"} if there else {}
    metadata = install_allennlp.metadata
    monkeypatch.setattr(metadata, "version", lambda name: version_of(versions, name))

    set_up("--yes")

    pip = [sys.executable, "-m", "pip", "install"]
    index = "--index-url=https://download.pytorch.org/whl/cpu"
    first = [*pip, index, "torch==2.13.0", "torchvision"]
    assert ran[: 3 - there] == [[first], []][there] + [[*pip[:-1], *words] for words in INSTALLS]


def test_a_command_that_fails_ends_the_setup(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(words: list[str], **options) -> subprocess.CompletedProcess:
        return dry_run(words) if "--dry-run" in words else subprocess.CompletedProcess(words, 1)

    monkeypatch.setattr(subprocess, "run", run)

    with pytest.raises(SystemExit, match=r"this command failed: .* 'elmo-tasks\[allennlp\]'"):
        set_up("--yes")


def test_the_reason_is_said_of_what_does_not_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    checks = {"one": "pass", "two": "import sys; sys.exit('why\\nno models')"}
    monkeypatch.setattr(install_allennlp, "_CHECKS", checks)
    install_allennlp.check_what_works()

    assert capsys.readouterr().out == "works: one\ndoes not work: two: no models\n"

    monkeypatch.setattr(install_allennlp, "_CHECKS", {"the plugin": checks["two"]})
    with pytest.raises(ValueError, match="the plugin fails: no models"):
        install_allennlp.check_what_works()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "elmo_tasks\n"),
        ("another\n", "another\nelmo_tasks\n"),
        ("another", "another\nelmo_tasks\n"),
        ("elmo_tasks\nanother\n", "elmo_tasks\nanother\n"),
    ],
)
def test_the_line_is_written_once(
    before: str | None,
    after: str,
    ran: list[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.setattr(command, "has_allennlp", lambda: True)
    plugins = tmp_path / ".allennlp" / "plugins"
    if before is not None:
        plugins.parent.mkdir()
        plugins.write_text(before)

    for _ in range(2):
        set_up()

    assert plugins.read_text() == after
    assert [path.name for path in plugins.parent.iterdir()] == ["plugins"]
    *_, last = capsys.readouterr().out.splitlines()
    assert last == f"{plugins} has the line elmo_tasks already; nothing was changed."
    assert not [words for words in ran if "install" in words]


def test_nothing_is_installed_beside_a_package_that_is_not(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_allennlp.metadata, "version", lambda name: version_of({}, name))

    with pytest.raises(SystemExit, match="elmo-tasks is not installed in .*pip install ."):
        set_up("--yes")

    assert ran == []

"""
Installs AllenNLP into this environment despite its outdated bounds on versions: first the packages
that AllenNLP imports, in versions that work with it, and then AllenNLP alone.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec

from elmo_tasks.common.errors import ALLENNLP, ConfigurationError

# Code to try after an installation. Each piece runs in a process of its own and prints nothing.
_CHECKS = {
    "the core: vectors": "import elmo_tasks; elmo_tasks.ElmoEncoder.from_pretrained('mini')(['A'])",
    "the plugin: train, evaluate, predict": "import allennlp.commands, elmo_tasks.plugin",
    "the trained models": "import elmo_tasks; elmo_tasks.load('sst').predict('A good film.')",
}


def install_allennlp(agreed: bool) -> None:
    """
    Prints the commands that install AllenNLP, and all packages that they would install or replace.
    Runs the commands if `agreed`, or if somebody at the terminal agrees. Raises
    `ConfigurationError` if nobody agreed, or a command fails.
    """
    if _installed("elmo-tasks") is None:
        # Without this check, pip would look for elmo-tasks on an index.
        raise ConfigurationError(
            f"elmo-tasks is not installed in {sys.prefix}: run `pip install .` in its folder first"
        )
    commands = _commands()
    print(f"AllenNLP is not installed in {sys.prefix}. These commands install it there:\n")
    for command in commands:
        print(f"  {shlex.join(command)}")
    print("\nAsking for the packages that they install and replace ...", flush=True)
    new, replaced = _planned(commands)
    print(f"They install: {', '.join(new) or 'nothing'}.")
    print(f"They replace: {', '.join(replaced) or 'nothing'}. PyTorch stays as it is.", flush=True)
    if not (agreed or _asked()):
        raise ConfigurationError("nothing was installed; the option --yes installs without asking")
    for command in commands:
        if subprocess.run(command).returncode != 0:
            raise ConfigurationError(f"this command failed: {shlex.join(command)}")


def check_what_works() -> None:
    """
    Prints what works in this environment, and what fails, with the reason. Raises
    `ConfigurationError` if the plugin fails.
    """
    for name, code in _CHECKS.items():
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if result.returncode == 0:
            print(f"works: {name}", flush=True)
            continue
        reason = (result.stderr.splitlines() or ["no reason was given"])[-1]
        print(f"does not work: {name}: {reason}", flush=True)
        if "plugin" in name:
            raise ConfigurationError(f"AllenNLP is installed, but the plugin fails: {reason}")


def _commands() -> list[list[str]]:
    """Returns the commands of pip, or of uv if the environment has no pip."""
    uv = shutil.which("uv")
    if find_spec("pip") is not None:
        install = [sys.executable, "-m", "pip", "install"]
    elif uv is not None:
        install = [uv, "pip", "install", "--python", sys.executable]
    else:
        raise ConfigurationError(
            f"{sys.prefix} has no pip, and there is no uv: `python -m ensurepip` installs pip"
        )
    # A torchvision for another PyTorch would also install that PyTorch, with CUDA.
    number, _, kind = metadata.version("torch").partition("+")
    torch = f"torch=={number}"
    commands = [[*install, "elmo-tasks[allennlp]", torch], [*install, "--no-deps", ALLENNLP]]
    if kind and _installed("torchvision") is None:
        # A PyTorch from its own index, such as 2.15.0+cpu, needs the torchvision of that index.
        index = f"--index-url=https://download.pytorch.org/whl/{kind}"
        commands.insert(0, [*install, index, torch, "torchvision"])
    return commands


def _planned(commands: list[list[str]]) -> tuple[list[str], list[str]]:
    """
    Returns the packages that the commands would install, and the packages that they would replace.
    """
    planned: dict[str, str] = {}
    for command in commands:
        with_pip = command[0] == sys.executable
        dry = [*command, "--dry-run", *["--quiet", "--report", "-"] * with_pip]
        result = subprocess.run(dry, capture_output=True, text=True)
        if result.returncode != 0:
            print(result.stderr, file=sys.stderr)
            raise ConfigurationError(f"this command failed: {shlex.join(dry)}")
        if with_pip:
            about = [each["metadata"] for each in json.loads(result.stdout)["install"]]
            packages = {each["name"]: each["version"] for each in about}
        else:
            packages = dict(re.findall(r"^ \+ (\S+)==(\S+)", result.stderr, re.MULTILINE))
        planned = packages | planned
    names = sorted(planned, key=str.lower)
    new = [f"{name} {planned[name]}" for name in names if _installed(name) is None]
    replaced = [
        f"{name} {version} by {planned[name]}"
        for name in names
        if (version := _installed(name)) is not None
    ]
    return new, replaced


def _installed(name: str) -> str | None:
    """Returns the version of a package in this environment."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _asked() -> bool:
    """Returns whether somebody at a terminal agrees."""
    return sys.stdin.isatty() and input("Run them now? [y/N] ").strip().lower() in ("y", "yes")

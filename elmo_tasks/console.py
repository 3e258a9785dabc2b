"""Runs the script `elmo-tasks`. PyTorch and AllenNLP are imported only when a command runs."""

import argparse
import importlib
import io
import signal
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from elmo_tasks import __version__
from elmo_tasks.commands.command import (
    COMMANDS,
    GROUPS,
    add_command,
    load,
    one_line_errors,
    summary,
)
from elmo_tasks.commands.options import MODELS, NAMED_BILMS
from elmo_tasks.common.deferred import HEAVY, deferred
from elmo_tasks.common.errors import require_allennlp
from elmo_tasks.common.progress import prepare_bars
from elmo_tasks.common.text import did_you_mean

_PLUGIN = "elmo_tasks.plugin"

# A training run may need any part of AllenNLP. Other commands defer `HEAVY`, to start twice as
# fast.
_TRAINING = ("ablation", "train")


def main() -> None:
    """Runs the command that `sys.argv` names. `__main__.py` calls this function."""
    with one_line_errors("elmo-tasks"):
        _main()


def _main() -> None:
    sys.argv[0] = "elmo-tasks"
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Answers are in UTF-8 in any locale, as the texts are.
        sys.stdout.reconfigure(encoding="utf-8")
    signal.signal(signal.SIGTERM, _interrupt)
    name, *arguments = sys.argv[1:] or ["--help"]
    if _PLUGIN in sys.modules:
        _make_quiet()
    else:
        sys.meta_path.insert(0, _PluginFinder(() if name in _TRAINING else HEAVY))
    name = name.removeprefix("elmo-")
    if name in ("-h", "--help"):
        print(_overview())
    elif name in ("--version", "version"):
        print(f"elmo-tasks {__version__}")
    elif name in COMMANDS:
        args = _parse(name, arguments)
        prepare_bars(getattr(args, "file_friendly_logging", False))
        args.func(args)
    else:
        nearest = did_you_mean(name, COMMANDS) or "; elmo-tasks --help lists the commands"
        sys.exit(f"elmo-tasks: there is no command {name!r}{nearest}")


def _interrupt(*_: Any) -> None:
    """Ends the child processes, and then this process with the exit status of Ctrl-C."""
    import multiprocessing

    for child in multiprocessing.active_children():
        child.terminate()
    raise KeyboardInterrupt


def _overview() -> str:
    lines = ["usage: elmo-tasks COMMAND ...", "", "ELMo vectors, and models with ELMo."]
    for title, names in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {name:14}{summary(load(name))}" for name in names)]
    lines += ["", f"models of this package: {MODELS}", f"biLMs: {NAMED_BILMS}"]
    lines += ["", "`elmo-tasks COMMAND --help` explains a command."]
    return "\n".join(lines)


def _parse(name: str, arguments: list[str]) -> argparse.Namespace:
    args, unknown = make_parser(name).parse_known_args([name, *arguments])
    if unknown:
        option_names = args.parser._option_string_actions
        args.parser.error(
            f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(unknown[0], option_names)}"
        )
    return args


def make_parser(name: str) -> argparse.ArgumentParser:
    """Returns a parser of `elmo-tasks` that knows one command."""
    parser = argparse.ArgumentParser("elmo-tasks")
    subparser = add_command(parser.add_subparsers(prog="elmo-tasks"), name, load(name))
    subparser.add_argument(
        "--include-package",
        metavar="PACKAGE",
        action="append",
        default=[],
        help="import this package first, which registers classes of your own",
    )
    return parser


def _make_quiet() -> None:
    """Limits AllenNLP's messages on the console."""
    importlib.import_module("elmo_tasks.commands.in_allennlp.quiet").make_quiet()


class _PluginFinder:
    """
    Finds the module `elmo_tasks.plugin` when it is imported. Before the module runs, AllenNLP is
    made quiet, and some packages are set to be imported at their first use.
    """

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = packages

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == _PLUGIN else None
        if spec is not None:
            spec.loader = _PluginLoader(spec.loader, self.packages)
        return spec


class _PluginLoader(Loader):
    def __init__(self, loader: Any, packages: Sequence[str]) -> None:
        self.loader, self.packages = loader, packages

    def exec_module(self, module: ModuleType) -> None:
        require_allennlp()
        with deferred(*self.packages):
            _make_quiet()
            self.loader.exec_module(module)

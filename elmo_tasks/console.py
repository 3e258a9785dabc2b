"""
The script `elmo-tasks`. Runs the commands of this package, and imports AllenNLP only for those that
need it. Runs AllenNLP's commands with the plugin imported.
"""

import argparse
import importlib
import io
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from elmo_tasks import __version__
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.mistakes import (
    DEBUG,
    INTERRUPTED,
    end_without_reader,
    wants_traceback,
)
from elmo_tasks.common import registration
from elmo_tasks.common.deferred import HEAVY, deferred
from elmo_tasks.common.errors import INSTALL_ALLENNLP
from elmo_tasks.common.spelling import did_you_mean

# AllenNLP's commands. The help lists those in `OF_ALLENNLP`. Plugins may add commands.
OF_ALLENNLP = {
    "train": "Train a model.",
    "evaluate": "Evaluate a model on a data set.",
    "predict": "Predict with a model.",
    "find-lr": "Find a learning rate.",
    "build-vocab": "Build the vocabulary of a config.",
    "print-results": "Print the metrics of several trainings.",
}
OTHERS = ("cached-path", "checklist", "count-instances", "diff", "push-to-hf", "test-install")


def main() -> None:
    """Runs the command that `sys.argv` names. Ctrl-C ends it with one line and exit status 130."""
    sys.argv[0] = "elmo-tasks"
    registration.register = _register
    if sys.stderr.isatty():
        # tqdm does not see the width of the stream that AllenNLP gives it.
        os.environ.setdefault("TQDM_NCOLS", str(shutil.get_terminal_size().columns - 1))
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Answers are in UTF-8 in any locale, as the texts are.
        sys.stdout.reconfigure(encoding="utf-8")
    sys.excepthook = _on_error
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in ("-h", "--help"):
        print(_help(), flush=True)
    elif name == "--version":
        print(f"elmo-tasks {__version__}")
    elif (own := name.removeprefix("elmo-")) in CATALOG:
        _run_own(own, arguments)
    elif name.startswith("-"):
        sys.exit(f"elmo-tasks: there is no option {name}; elmo-tasks --help lists the commands")
    else:
        _run_allennlp(name, arguments)


def _run_own(name: str, arguments: list[str]) -> None:
    if CATALOG[name].imports_plugin:
        _import_plugin(name)
    args = CATALOG[name].load()().parser(f"elmo-tasks {name}").parse_args(arguments)
    _run(args, with_plugin=CATALOG[name].imports_plugin)


def _run_allennlp(name: str, arguments: list[str]) -> None:
    known = [*OF_ALLENNLP, *OTHERS, *CATALOG]
    if name not in known and (nearest := did_you_mean(name, known)):
        sys.exit(f"elmo-tasks: there is no command {name!r}{nearest}")
    if "--debug" in arguments:
        arguments.remove("--debug")
        os.environ[DEBUG] = "1"
    sys.argv = ["elmo-tasks", name, *arguments]
    # Models of this package predict without the packages in `HEAVY`.
    with ExitStack() as stack:
        with deferred(*(HEAVY if name == "predict" else ())):
            _import_plugin(name)
            from elmo_tasks.in_allennlp.our_commands import our_commands

            stack.enter_context(our_commands())
            stack.enter_context(_kept_quiet())
            args = _arguments_of_allennlp(name, known)
        _run(args, with_plugin=True)


@contextmanager
def _kept_quiet() -> Iterator[None]:
    """While the block runs, the console stays ours when AllenNLP sets up the logs of a training."""
    from allennlp.common import logging

    from elmo_tasks.commands import excepthook
    from elmo_tasks.in_allennlp.replaced import replaced

    prepare = logging.prepare_global_logging

    def prepare_quietly(*args: Any, **kwargs: Any) -> None:
        prepare(*args, **kwargs)
        excepthook.install()

    with replaced(logging, prepare_global_logging=prepare_quietly):
        yield


def _arguments_of_allennlp(name: str, known: list[str]) -> argparse.Namespace:
    from allennlp.commands import Subcommand, import_plugins, parse_args

    if name not in known:
        # A plugin in .allennlp_plugins may have this command.
        import_plugins()
        if name not in Subcommand.list_available():
            sys.exit(f"elmo-tasks: there is no command {name!r}; elmo-tasks --help lists them")
    return parse_args("elmo-tasks")[1]


def _run(args: argparse.Namespace, with_plugin: bool) -> None:
    packages = getattr(args, "include_package", [])
    if with_plugin:
        # The processes that a command starts import the plugin, too, because of this option.
        args.include_package = packages = ["elmo_tasks.plugin", *packages]
    if packages:
        from allennlp.common.util import import_module_and_submodules

        for package in packages:
            import_module_and_submodules(package)
    args.func(args)


def _register() -> None:
    """Registers the names of archives without the packages that answers do not need."""
    with deferred(*HEAVY):
        importlib.import_module("elmo_tasks.plugin")


def _import_plugin(name: str) -> None:
    try:
        # This sets up AllenNLP's logging, as `python -m allennlp` does.
        import allennlp.__main__  # noqa: F401
        from allennlp.common.util import install_sigterm_handler

        from elmo_tasks.commands import excepthook

        excepthook.install()
        install_sigterm_handler()
        importlib.import_module("elmo_tasks.plugin")
    except ImportError as error:
        if wants_traceback():
            traceback.print_exc()
        sys.exit(f"elmo-tasks {name}: {error}; {INSTALL_ALLENNLP}")


def _on_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, BrokenPipeError):
        end_without_reader()
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    print(f"elmo-tasks {' '.join(sys.argv[1:2])}: interrupted", file=sys.stderr)
    sys.exit(INTERRUPTED)


def _help() -> str:
    own = "\n".join(f"  {name:14}{listed.help}" for name, listed in CATALOG.items())
    others = "\n".join(f"  {name:14}{text}" for name, text in OF_ALLENNLP.items())
    return textwrap.dedent(
        """\
        usage: elmo-tasks COMMAND ...

        ELMo vectors, and models with ELMo. `elmo-tasks COMMAND --help` explains a command.

        commands of this package:
        {own}

        commands of AllenNLP, with the plugin:
        {others}

        options:
          --help        show this text
          --version     show the version
          --debug       after a command: show the traceback of every error"""
    ).format(own=own, others=others)

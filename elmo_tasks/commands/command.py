"""
Lists the commands of `elmo-tasks`, makes their parsers, and turns their errors into messages.

A command is a module of this folder with `add_arguments(parser)` and `run(args)`. It may have
`GOES_ON`, a sentence shown after Ctrl-C that says how to continue. It may have `inputs(args)`,
which returns the names of the files that the command reads; a missing file is then reported before
anything is imported. The docstring of the module is the help of the command. Its first line is
shown in the list of commands. A paragraph with an indented line or a list is printed as it is.
`run` imports the packages that the command needs, so the help is quick. All names are registered
with AllenNLP before `run`, except for the commands in `_WITHOUT_ALLENNLP`.
"""

import argparse
import importlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from elmo_tasks.common.progress import working
from elmo_tasks.common.text import printable

# The commands under the headings of the help.
GROUPS = {
    "a model of your own": ("new", "train", "predict", "evaluate"),
    "more to do with models and biLMs": ("serve", "embed", "score", "errors"),
    "for research": ("ablation", "probe", "mix", "neighbors", "check", "export", "pack"),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)

# The commands that import AllenNLP themselves, and only if the model or the data need it.
_WITHOUT_ALLENNLP = ("check", "embed", "export", "mix", "neighbors", "new", "score")

# Commands that `allennlp` offers as `elmo-NAME`; it has its own `train`, `predict` and `evaluate`.
IN_ALLENNLP = tuple(name for name in COMMANDS if name not in GROUPS["a model of your own"])

# The exit status after Ctrl-C, as in a shell.
INTERRUPTED = 130

# The package to install if a module is missing that only some commands import.
_EXTRAS = {
    "_jsonnet": "jsonnet",
    "matplotlib": "matplotlib",
    "onnx": "onnx",
    "pyarrow": "pyarrow",
    "ray": "'ray[data]'",
    "sklearn": "scikit-learn",
    "spacy": "'elmo-tasks[spacy]'",
    "starlette": "'elmo-tasks[serve]'",
    "uvicorn": "'elmo-tasks[serve]'",
}


# Characters that the name of a single local file does not have.
_SEVERAL = re.compile(r"[*?\[\]{},!#]|://")


class _Help(argparse.HelpFormatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            part if re.search("\n( |- )", part) else super(_Help, self)._fill_text(part, width, "")
            for part in text.strip().split("\n\n")
        )


def load(name: str) -> ModuleType:
    """Imports the module of a command."""
    return importlib.import_module(f"elmo_tasks.commands.{name}")


def summary(command: ModuleType) -> str:
    """Returns the first line of a command's help."""
    return (command.__doc__ or "").strip().partition("\n")[0]


def add_command(subparsers: Any, name: str, command: ModuleType) -> argparse.ArgumentParser:
    """Adds the parser of a command."""
    parser = subparsers.add_parser(
        name, help=summary(command), description=command.__doc__, formatter_class=_Help
    )
    command.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.set_defaults(func=partial(_run, command), parser=parser)
    return parser


def check_read(*paths: str | os.PathLike) -> None:
    """
    Raises `FileNotFoundError` for a local file that does not exist. It is called before a command
    imports packages, which takes seconds. Patterns, lists of files, files in archives, addresses
    and `-` are not checked.
    """
    for path in (os.fspath(path) for path in paths):
        if (
            path != "-"
            and not _SEVERAL.search(path)
            and not os.path.exists(os.path.expanduser(path))
        ):
            raise FileNotFoundError(f"file {path} not found")


def _run(command: ModuleType, args: argparse.Namespace) -> None:
    with one_line_errors(args.parser.prog, args.debug, getattr(command, "GOES_ON", "")):
        if hasattr(command, "inputs"):
            check_read(*command.inputs(args))
        name = command.__name__.rpartition(".")[2]
        if args.include_package or name not in _WITHOUT_ALLENNLP:
            with working("starting"):
                import elmo_tasks.plugin  # noqa: F401  registers every name
        if args.include_package:
            from allennlp.common.util import import_module_and_submodules

            from elmo_tasks.archives.check_config import named_packages

            for package in args.include_package:
                import_module_and_submodules(package)
                named_packages.add(package.partition(".")[0])
        # The import loads PyTorch, which a command without this option may not need.
        if "threads" in args:
            with working("starting"):
                from elmo_tasks.common.threads import choose_threads

                choose_threads(args.threads)
        command.run(args)


@contextmanager
def one_line_errors(prog: str, debug: bool = False, goes_on: str = "") -> Iterator[None]:
    """
    Ends the process with one line: with exit status 1 after an error that the user can correct, and
    with 130 after Ctrl-C or SIGTERM. Any other error is a bug, and keeps its traceback. The line
    begins with `prog`, the command as typed. After Ctrl-C, the line ends with `goes_on`, which says
    how to continue. With `debug`, the traceback is printed before the line.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has ended. At exit, Python must not write again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except BaseException as error:
        is_interrupt = isinstance(error, (KeyboardInterrupt, *_of_allennlp("util.SigTermReceived")))
        message = f"interrupted{goes_on and '; '}{goes_on}" if is_interrupt else message_of(error)
        if message is None:
            raise
        if debug:
            import traceback

            traceback.print_exc()
        line = printable(f"{prog}: {' '.join(message.split())}")
        if is_interrupt:
            print(line, file=sys.stderr)
            sys.exit(INTERRUPTED)
        sys.exit(line)


def message_of(error: BaseException) -> str | None:
    """Returns the message for an error that the user can correct, or `None` for a bug."""
    match error:
        case OSError() if error.strerror and error.filename is not None:
            return f"{error.filename}: {error.strerror}"
        case ModuleNotFoundError() if error.name in _EXTRAS:
            package = _EXTRAS[error.name]
            return f"this needs {package}, which is not installed: pip install {package}"
        case ValueError() | OSError() | ImportError():
            return str(error)
    is_setting = isinstance(error, _of_allennlp("checks.ConfigurationError"))
    return str(error) if is_setting else None


def _of_allennlp(name: str) -> tuple[type, ...]:
    """
    Returns a class of `allennlp.common` in a tuple. The tuple is empty if AllenNLP is not imported.
    """
    module, _, kind = name.partition(".")
    module_loaded = sys.modules.get(f"allennlp.common.{module}")
    return () if module_loaded is None else (getattr(module_loaded, kind),)

import argparse
import sys
import traceback
from typing import Any

from elmo_tasks.commands.mistakes import INTERRUPTED, is_interrupt, mistake, wants_traceback
from elmo_tasks.common.printable import printable


class Command:
    """
    The base class of the commands. A subclass sets the texts of its help, adds its arguments, and
    does its work in `run`. An error that the user can correct ends the command with exit status 1
    and one line, which begins with the command as typed. After an interruption the status is 130.

    The script `elmo-tasks` can run a command without AllenNLP. A command has the interface of a
    `Subcommand`, so `elmo_tasks.plugin` can also register it with AllenNLP.

    # Parameters

    name: The name in `allennlp`, such as `elmo-embed`.
    description: The first paragraph of the command's own help.
    examples: The end of the command's own help, printed as it is.
    help: One line in `allennlp --help`.
    can_be_continued (default `False`): Whether a run continues an interrupted run.
    requires_plugins (default `True`): Whether the command has the option `--include-package`.
    """

    name: str
    description: str
    examples = ""
    help: str
    can_be_continued = False
    requires_plugins = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        raise NotImplementedError

    def run(self, args: argparse.Namespace) -> None:
        raise NotImplementedError

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Adds the parser of `allennlp NAME`; AllenNLP calls this function."""
        subparser = parser.add_parser(self.name, help=self.help, **self._texts())
        return self._prepare(subparser)

    def parser(self, prog: str) -> argparse.ArgumentParser:
        """Returns the command's own parser, for the console script."""
        parser = argparse.ArgumentParser(prog, **self._texts())
        if self.requires_plugins:
            parser.add_argument(
                "--include-package", action="append", default=[], help="a package to import first"
            )
        return self._prepare(parser)

    def _texts(self) -> dict[str, Any]:
        raw = argparse.RawDescriptionHelpFormatter
        return {
            "description": self.description,
            "epilog": self.examples,
            "formatter_class": raw if self.examples else argparse.HelpFormatter,
        }

    def _prepare(self, parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
        self.add_arguments(parser)
        parser.add_argument(
            "--debug", action="store_true", help="show the traceback of every error"
        )
        parser.set_defaults(func=self._run, prog=parser.prog)
        return parser

    def _run(self, args: argparse.Namespace) -> None:
        try:
            self.run(args)
        except BaseException as error:
            if is_interrupt(error):
                goes_on = "; the same command goes on from here" if self.can_be_continued else ""
                print(f"{args.prog}: interrupted{goes_on}", file=sys.stderr)
                sys.exit(INTERRUPTED)
            message = mistake(error) if isinstance(error, Exception) else None
            if message is None and isinstance(error, ValueError):
                message = str(error)
            if message is None:
                raise
            if args.debug or wants_traceback():
                traceback.print_exc()
            sys.exit(printable(f"{args.prog}: {message}"))

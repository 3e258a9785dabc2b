import argparse
import sys
import traceback

from allennlp.commands.subcommand import Subcommand
from allennlp.common.util import SigTermReceived

from elmo_tasks.commands.excepthook import INTERRUPTED
from elmo_tasks.commands.mistakes import mistake, wants_traceback


class Command(Subcommand):
    """
    The base class of the commands. A subclass sets the texts of its help, adds its arguments, and
    does its work in `run`. An error that the user can correct ends the command with one line and
    exit status 1, an interruption with exit status 130.

    # Parameters

    description : `str`
        The first paragraph of the command's own help.
    examples : `str`, optional
        The end of the command's own help, printed as it is.
    help : `str`
        One line in `allennlp --help`.
    can_be_continued : `bool`, optional (default = `False`)
        Whether an interrupted command goes on from where it was when it is run again.
    """

    description: str
    examples = ""
    help: str
    can_be_continued = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        raise NotImplementedError

    def run(self, args: argparse.Namespace) -> None:
        raise NotImplementedError

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        raw = argparse.RawDescriptionHelpFormatter
        subparser = parser.add_parser(
            self.name,
            description=self.description,
            epilog=self.examples,
            formatter_class=raw if self.examples else argparse.HelpFormatter,
            help=self.help,
        )
        self.add_arguments(subparser)
        subparser.add_argument(
            "--debug", action="store_true", help="show the traceback of every error"
        )
        subparser.set_defaults(func=self._run)
        return subparser

    def _run(self, args: argparse.Namespace) -> None:
        try:
            self.run(args)
        except (KeyboardInterrupt, SigTermReceived):
            goes_on = "; the same command goes on from here" if self.can_be_continued else ""
            print(f"{self.name}: interrupted{goes_on}", file=sys.stderr)
            sys.exit(INTERRUPTED)
        except Exception as error:
            message = mistake(error)
            if message is None and isinstance(error, ValueError):
                message = str(error)
            if message is None:
                raise
            if args.debug or wants_traceback():
                traceback.print_exc()
            sys.exit(f"{self.name}: {message}")

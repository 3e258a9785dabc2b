import argparse
import sys

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.util import SigTermReceived


class Command(Subcommand):
    """
    The base class of the commands. A subclass sets the texts of its help, adds its arguments, and
    does its work in `run`. An error that the user can correct ends the command with one line and
    exit status 1.

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
        subparser.set_defaults(func=self._run)
        return subparser

    def _run(self, args: argparse.Namespace) -> None:
        # `ValueError` includes our own `ConfigurationError`.
        try:
            self.run(args)
        except (AllenNlpConfigurationError, OSError, ValueError) as error:
            sys.exit(f"{self.name}: {error}")
        except (KeyboardInterrupt, SigTermReceived):
            goes_on = "; the same command goes on from here" if self.can_be_continued else ""
            sys.exit(f"{self.name}: interrupted{goes_on}")

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.analysis.mix.placed_mix import PlacedMix, read_mixes
from elmo_tasks.commands.outputs import add_outputs, deliver, layer_name, table
from elmo_tasks.common.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DESCRIPTION = """
Show how models mix the layers of their biLM, at each place where ELMo joins them: the weights s_j
of the layers, which sum to 1, gamma, and their products (Peters et al. 2018, equation 1). --chart
draws the weights as in the paper's Figure 2.
"""


@Subcommand.register("elmo-mix")
class ElmoMixReport(Subcommand):
    """
    Shows what weights models give the layers of their biLM.

    Registered as a `Subcommand` with name "elmo-mix".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description=_DESCRIPTION,
            help="Show what weights models give the layers of their biLM.",
        )
        subparser.add_argument(
            "archives",
            metavar="[NAME=]ARCHIVE",
            nargs="+",
            help="a model.tar.gz, or the folder of a training; by default its name is its path, "
            "without the folders that all of them share",
        )
        add_outputs(subparser)
        subparser.set_defaults(func=_report_from_args)
        return subparser


def _report_from_args(args: argparse.Namespace) -> None:
    try:
        archives = named_archives(args.archives)
        mixes = [mix for name in archives for mix in read_mixes(name, archives[name])]
        numbers = {"mixes": [mix.as_dict() for mix in mixes]}
        deliver(args, describe(mixes), numbers, lambda: _draw(mixes))
    except (ConfigurationError, OSError) as error:
        sys.exit(f"elmo-mix: {error}")


def named_archives(arguments: Sequence[str]) -> dict[str, str]:
    """The paths of archives by their names, from `[NAME=]ARCHIVE`."""
    named = [_split(argument) for argument in arguments]
    folders = [_folder(path) for _, path in named]
    shared = os.path.commonpath([folder.parent for folder in folders])
    archives: dict[str, str] = {}
    for (name, path), folder in zip(named, folders):
        name = name or str(folder.relative_to(shared))
        if name in archives:
            raise ConfigurationError(
                f"{archives[name]} and {path} would both be named {name}: give one as NAME=ARCHIVE"
            )
        archives[name] = path
    return archives


def describe(mixes: Sequence[PlacedMix]) -> str:
    """A table with a row for each place."""
    layers = range(max(len(mix.weights) for mix in mixes))
    columns = ["model", "place", *(f"s{j}" for j in layers), "gamma"]
    columns += [f"gamma s{j}" for j in layers]
    rows = []
    for mix in mixes:
        missing = [""] * (len(layers) - len(mix.weights))
        cells = [*_shown(mix.weights), *missing, *_shown([mix.gamma, *mix.products]), *missing]
        rows.append([mix.model, mix.place, *cells])
    names = ", ".join(f"s{j} is of {layer_name(j)}" for j in layers)
    return f"{table(columns, rows)}\n\nOf the layers, {names}."


def _split(argument: str) -> tuple[str, str]:
    """The name, which may be empty, and the path."""
    name, separator, path = argument.partition("=")
    # A path may have an equals sign in it.
    return (name, path) if separator and not os.path.exists(argument) else ("", argument)


def _folder(archive: str) -> Path:
    """What an archive is named after: the folder of its training, or a file of another name."""
    path = Path(os.path.abspath(archive))
    return path.parent if path.name == "model.tar.gz" else path


def _shown(numbers: Sequence[float]) -> list[str]:
    return [f"{number:.3f}" for number in numbers]


def _draw(mixes: Sequence[PlacedMix]) -> "Figure":
    # Imported here, since it takes its time.
    from elmo_tasks.analysis.mix.chart import draw

    return draw(mixes)

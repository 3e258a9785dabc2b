import argparse
from typing import TYPE_CHECKING

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.analysis.neighbors.neighbors import neighbors
from elmo_tasks.commands.bilm_arguments import add_encoder_options, encoder_from_args
from elmo_tasks.commands.command import Command
from elmo_tasks.commands.outputs import add_outputs, deliver
from elmo_tasks.common.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@Subcommand.register("elmo-neighbors")
class ElmoNeighbors(Command):
    """
    Groups or ranks the occurrences of a word by their vectors.

    Registered as a `Subcommand` with name "elmo-neighbors".
    """

    help = "Group or rank the occurrences of a word by their vectors."
    description = """
Show how the senses of a word come apart in context: its occurrences in a text, by their vectors in
a layer of a biLM, in clusters, or ranked by one that is given; beside them the nearest words in
layer 0, which has one vector for a word whatever its context.
"""
    examples = """
examples:
  allennlp elmo-neighbors bank --corpus text.txt.gz --chart bank.png
  allennlp elmo-neighbors play --corpus text.txt --clusters 3 --layer 1 --ignore-case
  allennlp elmo-neighbors play --corpus text.txt --sentence 'They saw a play in London .'
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("word", metavar="WORD", help="one token, as it stands in the text")
        add(
            "--corpus",
            metavar="FILE",
            required=True,
            help="one tokenized sentence a line; plain, .gz or .xz; a pattern is several",
        )
        add("--sentence", help="tokenized, with the word: rank the others by its first place there")
        add("--clusters", type=int, default=2, metavar="K", help="otherwise: how many")
        add("--layer", type=int, metavar="J", help="0 for the tokens (default: the top)")
        add("--ignore-case", action="store_true", help="take Bank for bank")
        add("--max-occurrences", type=int, default=1000, metavar="N", help="of more, draw as many")
        add("--seed", type=int, default=0, help="of what is drawn, and of clusters")
        add("--top", type=int, default=8, metavar="N", help="lines for each group")
        add(
            "--max-words",
            type=int,
            default=20_000,
            metavar="N",
            help="words of layer 0 to compare, the most frequent of the text",
        )
        add_encoder_options(parser)
        add_outputs(parser)

    def run(self, args: argparse.Namespace) -> None:
        for name in ("clusters", "max_occurrences", "top", "max_words"):
            if getattr(args, name) < 1:
                option = name.replace("_", "-")
                raise ConfigurationError(f"--{option} must be 1 or more, not {getattr(args, name)}")
        bilm, encoder = encoder_from_args(args)
        report = neighbors(
            encoder,
            bilm,
            args.word,
            args.corpus,
            sentence=args.sentence,
            num_clusters=args.clusters,
            layer=args.layer,
            ignore_case=args.ignore_case,
            max_occurrences=args.max_occurrences,
            max_words=args.max_words,
            num_similar=args.top,
            seed=args.seed,
        )

        def chart() -> "Figure":
            from elmo_tasks.analysis.neighbors.chart import draw

            return draw(report)

        deliver(args, report.text_of(args.top), report.as_dict(), chart)

import argparse

from elmo_tasks.analysis.neighbors.neighbors import neighbors
from elmo_tasks.analysis.neighbors.report import draw, text_of
from elmo_tasks.commands.bilm_arguments import add_bilm_options, open_from_args
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.commands.outputs import add_outputs, deliver
from elmo_tasks.common.errors import check_positive
from elmo_tasks.elmo.sentence_layers import SentenceLayers


class ElmoNeighbors(Command):
    """
    Clusters or ranks the occurrences of a word by their vectors.

    Registered as a `Subcommand` with name "elmo-neighbors".
    """

    name = "elmo-neighbors"
    help = CATALOG["neighbors"].help
    description = """
Show how well a biLM separates the senses of a word: cluster its occurrences in a text by their
vectors in one layer, or rank them by their similarity to its occurrence in a given sentence. For
comparison, show the nearest words in layer 0, where a word has the same vector in all contexts.
"""
    examples = """
examples:
  elmo-tasks neighbors bank --corpus text.txt.gz --chart bank.png
  elmo-tasks neighbors play --corpus text.txt --clusters 3 --layer 1 --ignore-case
  elmo-tasks neighbors play --corpus text.txt --sentence 'They saw a play in London .'
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("word", metavar="WORD", help="one token, spelt as in the text")
        add(
            "--corpus",
            metavar="FILE",
            required=True,
            help="the path or glob pattern of a text, one tokenized sentence a line",
        )
        add(
            "--sentence",
            help="a tokenized sentence with WORD: rank the occurrences by similarity to WORD there",
        )
        add(
            "--clusters",
            type=int,
            default=2,
            metavar="K",
            help="the number of clusters, without --sentence (default: 2)",
        )
        add(
            "--layer",
            type=int,
            metavar="J",
            help="the layer to compare; 0 is that of the tokens (default: the top layer)",
        )
        add("--ignore-case", action="store_true", help="count Bank as an occurrence of bank")
        add(
            "--top",
            type=int,
            default=8,
            metavar="N",
            help="occurrences and similar words to show (default: 8)",
        )
        add(
            "--vectors",
            metavar="FILE",
            help="show the nearest words in a file of word vectors, such as GloVe's, as well",
        )
        add_bilm_options(parser)
        add_outputs(parser)

    def run(self, args: argparse.Namespace) -> None:
        for name in ("clusters", "top"):
            check_positive(f"--{name}", getattr(args, name))
        opened = open_from_args(args)
        report = neighbors(
            SentenceLayers(opened.bilm),
            opened.name,
            args.word,
            args.corpus,
            sentence=args.sentence,
            num_clusters=args.clusters,
            layer=args.layer,
            ignore_case=args.ignore_case,
            num_similar=args.top,
            word_vectors=args.vectors,
        )
        deliver(args, text_of(report, args.top), report, lambda: draw(report))

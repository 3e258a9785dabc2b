"""
Cluster or rank the occurrences of a word by their vectors.

Show how well a biLM separates the senses of a word: cluster its occurrences in a text by their
vectors in one layer, or rank them by their similarity to the word's occurrence in a given sentence.
For comparison, show the nearest words in layer 0, where a word has the same vector in all contexts.
Tokens are separated by blanks; --split cuts raw text. Sentences that have WORD in another form,
such as light. or Light, are counted.

examples:
  elmo-tasks neighbors bank --corpus text.txt.gz --chart bank.png
  elmo-tasks neighbors play --corpus text.txt --clusters 3
  elmo-tasks neighbors play --corpus text.txt --sentence 'A play in London .'
"""

import argparse

from elmo_tasks.commands.options import (
    add_bilm,
    add_count,
    add_report,
    add_shared,
    check_written,
    deliver,
    open_from_args,
    splitter_of,
)
from elmo_tasks.common.errors import require_package
from elmo_tasks.common.progress import working


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("word", metavar="WORD", help="one token, spelt as in the text")
    add(
        "--corpus",
        metavar="FILE",
        required=True,
        help="the path or glob pattern of a text, one tokenized sentence a line",
    )
    add_shared(parser, "--split", "--language")
    add(
        "--sentence",
        help="a tokenized sentence with WORD: rank the occurrences by similarity to WORD there",
    )
    add_count(parser, "--clusters", 2, "the number of clusters, without --sentence", "K")
    add(
        "--layer",
        type=int,
        metavar="J",
        help="the layer to compare; 0 is the token layer (default: the top layer)",
    )
    add_count(parser, "--top", 8, "occurrences and similar words to show")
    add(
        "--vectors",
        metavar="FILE",
        help="show the nearest words in a file of word vectors, such as GloVe's, as well",
    )
    add_bilm(parser)
    add_report(parser)


def run(args: argparse.Namespace) -> None:
    check_written(args, args.corpus, *filter(None, [args.vectors]))
    split = splitter_of(args)
    if args.sentence is None:
        # Ranking occurrences needs no clusters.
        require_package("sklearn")
    from elmo_tasks.analysis.charts import draw_neighbors
    from elmo_tasks.analysis.neighbors.neighbors import neighbors, text_of
    from elmo_tasks.elmo.sentence_layers import SentenceLayers

    model = open_from_args(args)
    with working("comparing the occurrences"):
        report = neighbors(
            SentenceLayers(model.bilm),
            model.name,
            args.word,
            args.corpus,
            sentence=args.sentence,
            num_clusters=args.clusters,
            layer=args.layer,
            num_similar=args.top,
            word_vectors=args.vectors,
            split=split,
        )
    deliver(args, text_of(report, args.top), report, lambda: draw_neighbors(report))

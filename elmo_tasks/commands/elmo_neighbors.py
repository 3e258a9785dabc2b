import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Tqdm
from torch.nn.functional import normalize

from elmo_tasks.analysis.neighbors.groups import cluster, rank
from elmo_tasks.analysis.neighbors.occurrences import Corpus, Occurrence, search
from elmo_tasks.analysis.neighbors.report import Report
from elmo_tasks.analysis.neighbors.similar_words import similar_words
from elmo_tasks.commands.bilm_arguments import add_encoder_options, encoder_from_args
from elmo_tasks.commands.outputs import add_outputs, deliver, layer_name
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.encoder.encoder import ElmoEncoder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DESCRIPTION = """
Show how the senses of a word come apart in context: its occurrences in a text, by their vectors in
a layer of a biLM, in clusters, or ranked by one that is given; beside them the nearest words in
layer 0, which has one vector for a word whatever its context.
"""

_EXAMPLES = """
examples:
  allennlp elmo-neighbors bank --corpus text.txt.gz --chart bank.png
  allennlp elmo-neighbors play --corpus text.txt --clusters 3 --layer 1 --ignore-case
  allennlp elmo-neighbors play --corpus text.txt --sentence 'They saw a play in London .'
"""


@Subcommand.register("elmo-neighbors")
class ElmoNeighbors(Subcommand):
    """
    Groups or ranks the occurrences of a word by their vectors.

    Registered as a `Subcommand` with name "elmo-neighbors".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description=_DESCRIPTION,
            epilog=_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            help="Group or rank the occurrences of a word by their vectors.",
        )
        add = subparser.add_argument
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
        add(
            "--max-occurrences",
            type=int,
            default=1000,
            metavar="N",
            help="of more, draw as many",
        )
        add("--seed", type=int, default=0, help="of what is drawn, and of clusters")
        add("--top", type=int, default=8, metavar="N", help="lines for each group")
        add(
            "--max-words",
            type=int,
            default=20_000,
            metavar="N",
            help="words of layer 0 to compare, the most frequent of the text",
        )
        add_encoder_options(subparser)
        add_outputs(subparser)
        subparser.set_defaults(func=_neighbors_from_args)
        return subparser


def _neighbors_from_args(args: argparse.Namespace) -> None:
    try:
        for name in ("clusters", "max_occurrences", "top", "max_words"):
            if getattr(args, name) < 1:
                option = name.replace("_", "-")
                raise ConfigurationError(f"--{option} must be 1 or more, not {getattr(args, name)}")
        report = neighbors(args)
        deliver(args, report.text_of(args.top), report.as_dict(), lambda: _draw(report))
    except (ConfigurationError, OSError, ValueError) as error:
        sys.exit(f"elmo-neighbors: {error}")


def neighbors(args: argparse.Namespace) -> Report:
    """What the command line asks for."""
    bilm, encoder = encoder_from_args(args)
    layer = _layer(args.layer, encoder.bilm.num_layers)
    wanted = None if args.sentence is None else _find(args)
    corpus = search(args.corpus, args.word, args.max_occurrences, args.ignore_case, args.seed)
    if not corpus.occurrences:
        raise ConfigurationError(_nothing_found(args, corpus))
    # Not beside itself.
    others = [occurrence for occurrence in corpus.occurrences if occurrence != wanted]
    if not others:
        raise ConfigurationError(f"{args.word!r} occurs in {args.corpus} in that sentence alone")
    corpus = corpus._replace(occurrences=others)
    vectors = _vectors(encoder, layer, corpus.occurrences)
    frequent = [word for word, _ in corpus.counts.most_common(args.max_words)]
    report = Report(
        word=args.word,
        layer=layer_name(layer),
        bilm=bilm,
        text=args.corpus,
        corpus=corpus,
        vectors=vectors,
        groups=[],
        similar=similar_words(encoder.bilm, args.word, frequent, args.top),
    )
    if wanted is None:
        return report._replace(groups=cluster(vectors, args.clusters, args.seed))
    (vector,) = _vectors(encoder, layer, [wanted])
    return report._replace(groups=[rank(vectors, vector)], wanted=(wanted, vector))


def _layer(number: int | None, num_layers: int) -> int:
    if number is None:
        return num_layers - 1
    if not 0 <= number < num_layers:
        raise ConfigurationError(f"--layer must be from 0 to {num_layers - 1}, not {number}")
    return number


def _find(args: argparse.Namespace) -> Occurrence:
    """The word in the sentence that is given."""
    words = args.sentence.split()
    for place, word in enumerate(words):
        if word == args.word or args.ignore_case and word.casefold() == args.word.casefold():
            return Occurrence(words, place)
    raise ConfigurationError(
        f"--sentence must have {args.word!r} in it as a token, blanks around it, but is "
        f"{args.sentence!r}"
    )


def _vectors(encoder: ElmoEncoder, layer: int, occurrences: Sequence[Occurrence]) -> torch.Tensor:
    """Of each occurrence, of length 1: shape (occurrences, dim)."""
    sentences = Tqdm.tqdm([occurrence.words for occurrence in occurrences], desc="embedding")
    found = zip(encoder.layers(sentences), occurrences)
    # A copy, which does not hold on to the sentence.
    vectors = [layers[layer, occurrence.place].clone() for layers, occurrence in found]
    return normalize(torch.stack(vectors))


def _nothing_found(args: argparse.Namespace, corpus: Corpus) -> str:
    message = (
        f"{args.word!r} never occurs in {args.corpus}, which has {corpus.num_sentences:,} sentences"
    )
    alike = {
        word: count
        for word, count in corpus.counts.items()
        if word.casefold() == args.word.casefold()
    }
    if alike:
        forms = ", ".join(f"{word} ({count})" for word, count in alike.items())
        return f"{message}; but {forms} does: --ignore-case takes it for the same"
    if len(args.word.split()) != 1:
        return f"{message}; a word is one token, without blanks"
    return message


def _draw(report: Report) -> "Figure":
    # Imported here, since it takes its time.
    from elmo_tasks.analysis.neighbors.chart import draw

    return draw(report)

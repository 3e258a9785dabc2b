import argparse
from pathlib import Path

from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.elmo.archives import load_model
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.language_model.softmax_file import SOFTMAX_FILE
from elmo_tasks.publish.difference import compare
from elmo_tasks.publish.language_model import rounding
from elmo_tasks.publish.publish import publish


class ElmoPack(Command):
    """
    Writes a trained model to a small folder for publishing.

    Registered as a `Subcommand` with name "elmo-pack".
    """

    name = "elmo-pack"
    help = CATALOG["pack"].help
    description = """
Write a trained model as a folder that is as small as it can be. Weights are in float16. A biLM that
has a name (a known biLM, or owner/name of the Hugging Face hub) is written without its weights, as
its name and fingerprint. Whatever takes an archive takes the folder as well, also from a
repository of the hub: elmo-tasks predict, evaluate, mix and export, elmo_tasks.load and
ElmoEncoder. The command says the size and, with --examples, how much the answers change.

A language model (elmo_language_model) is written as the options and weights of its biLM, with its
softmax in 8 bits a number: elmo-tasks score, elmo_tasks.LanguageModel and all that takes a biLM
read the folder without AllenNLP.
"""
    examples = """
examples:
  elmo-tasks pack runs/sst/both/model.tar.gz my-sst --examples in.jsonl
  elmo-tasks pack runs/squad/both/model.tar.gz my-squad --max-words 20000
  elmo-tasks predict my-sst in.txt
  elmo-tasks pack runs/mine my-language-model --examples heldout.txt
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add(
            "archive_file",
            metavar="ARCHIVE",
            help="the model.tar.gz or the folder of a training, or the name of a model",
        )
        add("folder", metavar="DIR", help="the folder to write to")
        add(
            "--bilm",
            metavar="NAME",
            help="the name by which the biLM can be had (default: the one in the config of the "
            "training); the weights of a biLM without a name are written",
        )
        add(
            "--max-words",
            type=int,
            metavar="N",
            help="keep the first N words: those of the training text, the most frequent first, "
            "then the most frequent ones of a file of vectors; the others count as unknown "
            "(default: all; of a language model, the 50,000 most frequent)",
        )
        add(
            "--examples",
            metavar="IN",
            help="inputs as for `elmo-tasks predict`, for which the answers are compared with "
            "those of ARCHIVE; for a language model, a text as for `elmo-tasks score`",
        )
        add(
            "--weights-file",
            metavar="FILE",
            help="read these weights, such as a checkpoint, in place of the best ones",
        )
        add("--force", action="store_true", help="replace the model in DIR; its card stays")

    def run(self, args: argparse.Namespace) -> None:
        published = publish(
            args.archive_file,
            args.folder,
            args.bilm,
            args.max_words,
            args.force,
            args.weights_file,
        )
        parts = ", ".join(f"{name} {size / 1e6:.2f}" for name, size in published.parts.items())
        print(f"Wrote {args.folder}: {published.num_bytes / 1e6:.2f} MB ({parts}).")
        print(f"Words: {published.num_words:,}.")
        for name, (known_as, fingerprint) in published.bilms.items():
            print(f"Left out: {name}, the biLM {known_as}, fingerprint {fingerprint}.")
        for name in published.kept:
            print(f"Written: {name}, a biLM without a name (see --bilm).")
        if args.examples is not None and (Path(args.folder) / SOFTMAX_FILE).exists():
            _compare_perplexities(args)
        elif args.examples is not None:
            difference = compare(args.archive_file, args.folder, args.examples)
            largest = ", ".join(f"{key} {value:.1g}" for key, value in difference.largest.items())
            print(
                f"Answers: {difference.num_changed} of {difference.num_answers} changed; largest "
                f"differences: {largest or 'none'}."
            )


def _compare_perplexities(args: argparse.Namespace) -> None:
    model = load_model(args.archive_file, args.weights_file)
    found = rounding(model, args.folder, Corpus([args.examples]).texts())
    print(f"Before, over the same words: {found.before}.")
    print(f"As published: {found.after}.")
    print(f"Bits of a token differ by {found.mean:.2g} on average and {found.largest:.2g} at most.")

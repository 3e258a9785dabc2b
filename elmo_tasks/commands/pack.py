"""
Write a trained model as a small folder, to publish it.

Weights are in float16. A biLM that has a name (a known biLM, or owner/name of the Hugging Face hub)
is written without its weights, as its name and fingerprint. Commands and functions that take an
archive take the folder as well, also from a repository of the hub: elmo-tasks predict, evaluate,
mix and export, elmo_tasks.load and ElmoEncoder.

A language model (elmo_language_model) is written as the options and weights of its biLM, with its
softmax in 8 bits a number: elmo-tasks score, elmo_tasks.LanguageModel and everything that takes a
biLM read the folder without AllenNLP.

examples:
  elmo-tasks pack runs/sst/both/model.tar.gz my-sst
  elmo-tasks pack runs/squad/both/model.tar.gz my-squad --max-words 20000
  elmo-tasks predict my-sst in.txt
  elmo-tasks pack runs/mine my-language-model
"""

import argparse

from elmo_tasks.commands.options import add_count, add_shared, package_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_shared(parser, "archive_file")
    add("folder", metavar="DIR", help="the new folder to write to")
    add_shared(parser, "--force")
    add(
        "--bilm",
        metavar="NAME",
        help="the name by which others can get the biLM (default: its name in the config of the "
        "training run); the weights of a biLM without a name are written",
    )
    add_count(
        parser,
        "--max-words",
        None,
        "keep the first N words: words of the training text, the most frequent first, then the "
        "most frequent ones of a file of vectors; other words count as unknown (default: all; of "
        "a language model, the 50,000 most frequent)",
    )


def run(args: argparse.Namespace) -> None:
    from elmo_tasks.archives.publish import publish
    from elmo_tasks.common.outputs import check_outputs

    check_outputs((), [package_folder(args.archive_file)], folders=[args.folder])
    published = publish(args.archive_file, args.folder, args.bilm, args.max_words, args.force)
    print(f"Wrote {args.folder}: {published.num_bytes / 1e6:.2f} MB.")
    print(f"Words: {published.num_words:,}.")
    for name, (known_as, fingerprint) in published.bilms.items():
        print(f"Left out: {name}, the biLM {known_as}, fingerprint {fingerprint}.")
    for name in published.written_bilms:
        print(f"Written: {name}, a biLM without a name (see --bilm).")

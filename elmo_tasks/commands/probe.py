"""
Measure how well each layer of a biLM predicts the tags of words.

Measure what each layer knows about words, such as their parts of speech or their senses. A simple
classifier learns the tags of a file in columns: from the vectors of each layer alone, and from a
trained mix of all layers (Peters et al. 2018, section 5.3). The table has two baselines: the most
frequent tag of all tokens, and the most frequent tag of each word.

examples:
  elmo-tasks probe training_configs/probe/pos.jsonnet
  elmo-tasks probe pos.jsonnet -o '{"train_data_path": "my.txt"}'
"""

import argparse

from elmo_tasks.commands.options import add_report, add_shared, check_written, deliver


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", help="the path of a config")
    add_shared(parser, "--overrides", "--threads")
    add_report(parser, has_chart=False)


def run(args: argparse.Namespace) -> None:
    from elmo_tasks.analysis.probe.probe import run_config, text_of
    from elmo_tasks.training.config_names import read_config_and_files

    config, files = read_config_and_files(args.config, args.overrides)
    check_written(args, *files)
    report = run_config(config)
    deliver(args, text_of(report), report)

import argparse
import re
from typing import Any

from allennlp.commands import evaluate as allennlp_evaluate
from allennlp.models import Archive

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.in_allennlp.replaced import replaced

_ABOUT_TRAINING = re.compile(r"elmo_(input|output)_(s\d+|gamma)$|(reg|batch)_loss$")


def evaluate(args: argparse.Namespace) -> None:
    """
    Runs AllenNLP's `evaluate` with the evaluator `elmo`, unless the config has another one. Prints
    the metrics, without the weights of the mixes and the parts of the loss.
    """
    with replaced(allennlp_evaluate, load_archive=_load):
        metrics = allennlp_evaluate.evaluate_from_args(args)
    for name, value in metrics.items():
        if not _ABOUT_TRAINING.search(name):
            print(f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}")


def _load(*args: Any, **options: Any) -> Archive:
    archive = open_archive(*args, **options)
    archive.config.params.setdefault("evaluation", {}).setdefault("type", "elmo")
    return archive

import argparse
from typing import Any

from allennlp.commands import evaluate as allennlp_evaluate
from allennlp.models import Archive

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.in_allennlp.replaced import replaced


def evaluate(args: argparse.Namespace) -> None:
    """Runs AllenNLP's `evaluate` with the evaluator `elmo`, unless the config has another one."""
    with replaced(allennlp_evaluate, load_archive=_load):
        allennlp_evaluate.evaluate_from_args(args)


def _load(*args: Any, **options: Any) -> Archive:
    archive = open_archive(*args, **options)
    archive.config.params.setdefault("evaluation", {}).setdefault("type", "elmo")
    return archive

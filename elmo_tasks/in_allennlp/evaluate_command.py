import argparse
import re
from typing import Any

from allennlp.commands import evaluate as allennlp_evaluate
from allennlp.models import Archive

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.in_allennlp.config_names import configs_by_name
from elmo_tasks.in_allennlp.replaced import replaced

_ABOUT_TRAINING = re.compile(r"elmo_(input|output)_(s\d+|gamma)$|(reg|batch)_loss$")


@configs_by_name()
def evaluate(args: argparse.Namespace) -> None:
    """
    Runs AllenNLP's `evaluate` with the evaluator `elmo`, unless the config has another one. Prints
    the metrics, without the weights of the mixes and the parts of the loss.
    """
    with replaced(allennlp_evaluate, load_archive=_load):
        metrics = allennlp_evaluate.evaluate_from_archive(
            archive_file=args.archive_file,
            input_file=args.input_file,
            metrics_output_file=args.output,
            predictions_output_file=args.predictions_output_file,
            batch_size=args.batch_size,
            cmd_overrides=args.overrides,
            cuda_device=args.cuda_device,
            embedding_sources_mapping=args.embedding_sources_mapping,
            extend_vocab=args.extend_vocab,
            weights_file=args.weights,
            file_friendly_logging=args.file_friendly_logging,
            batch_weight_key=args.batch_weight_key,
            auto_names=args.auto_names,
        )
    for name, value in metrics.items():
        if not _ABOUT_TRAINING.search(name):
            print(f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}")


def _load(*args: Any, **options: Any) -> Archive:
    archive = open_archive(*args, **options)
    archive.config.params.setdefault("evaluation", {}).setdefault("type", "elmo")
    return archive

"""
Measure how good a model is on labelled data.

FILE has the format that the model was trained on. Several files are separated by commas.
--predictions-output-file writes the answer to each input of the file, as `elmo-tasks predict` gives
it in JSON.

examples:
  elmo-tasks evaluate runs/reviews reviews/dev.jsonl
  elmo-tasks evaluate sst data/sst/dev.txt --output dev.json
"""

import argparse
import inspect
import re
from typing import Any

from elmo_tasks.commands.options import add_count, add_shared
from elmo_tasks.common.errors import ConfigurationError

# Metrics that are not printed: the weights of the mixes, and the parts of the loss.
_ABOUT_TRAINING = re.compile(r"elmo_(input|output)_(s\d+|gamma)$|(reg|batch)_loss$")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_shared(parser, "archive_file")
    add("input_file", metavar="FILE", help="labelled data in the format of the training data")
    add_shared(parser, "--output", help="write the metrics to this file, too, as JSON")
    add("--predictions-output-file", metavar="OUT", help="write the answers to this file")
    add_count(parser, "--batch-size", None, "inputs in a batch (default: as in training)")
    add_shared(parser, "--overrides", "--cuda-device", "--threads")


def run(args: argparse.Namespace) -> None:
    from allennlp.commands import evaluate

    from elmo_tasks.archives.open_archive import open_archive
    from elmo_tasks.in_allennlp import replaced
    from elmo_tasks.in_allennlp.config_names import configs_by_name
    from elmo_tasks.predictors.evaluator import check_loss

    def load_archive(path: str, cuda_device: int, overrides: str, **_: Any) -> Any:
        archive = open_archive(path, cuda_device, overrides)
        config = archive.config.params
        # The evaluator that writes answers, unless the config has another one.
        config.setdefault("evaluation", {}).setdefault("type", "elmo")
        config["validation_data_loader"] = _evaluation_loader(config, args.batch_size)
        return archive

    with configs_by_name(), replaced(evaluate, load_archive=load_archive):
        metrics = evaluate.evaluate_from_archive(
            archive_file=args.archive_file,
            input_file=args.input_file,
            metrics_output_file=args.output,
            predictions_output_file=args.predictions_output_file,
            cmd_overrides=args.overrides,
            cuda_device=args.cuda_device,
        )
    check_loss(metrics)
    for name, value in metrics.items():
        if not _ABOUT_TRAINING.search(name):
            print(f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}")


def _evaluation_loader(config: dict[str, Any], batch_size: int | None) -> dict[str, Any]:
    """
    Returns the config of a loader that reads all data once, in batches of `batch_size` inputs. By
    default, batches are those of the validation, or those of the training without a validation's.
    """
    loader = dict(config.get("validation_data_loader") or config.get("data_loader") or {})
    sampler = loader.get("batch_sampler")
    for name in ("batches_per_epoch", "drop_last"):
        loader.pop(name, None)
    if isinstance(sampler, dict):
        loader["batch_sampler"] = {name: sampler[name] for name in sampler if name != "drop_last"}
    if batch_size is None:
        return loader
    if isinstance(sampler, dict) and "batch_size" in sampler:
        loader["batch_sampler"]["batch_size"] = batch_size
        return loader
    from allennlp.data import DataLoader

    kind = DataLoader.by_name(loader.get("type", DataLoader.default_implementation))
    if "batch_size" not in inspect.signature(kind).parameters:
        raise ConfigurationError(
            f"--batch-size: the model's data come in batches of another kind ({kind.__name__}); "
            "leave the option out, or set an argument of validation_data_loader by --overrides"
        )
    loader.pop("batch_sampler", None)
    return {**loader, "batch_size": batch_size}

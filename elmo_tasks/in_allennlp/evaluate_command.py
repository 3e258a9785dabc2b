import argparse
import inspect
from typing import Any

from allennlp.commands import evaluate as allennlp_command
from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.in_allennlp import replaced
from elmo_tasks.in_allennlp.check_arguments import as_object, named_errors
from elmo_tasks.in_allennlp.config_names import configs_by_name
from elmo_tasks.predictors.evaluator import check_loss


def evaluate(args: argparse.Namespace) -> dict[str, Any]:
    """Runs `elmo-tasks evaluate`, and returns the metrics of all files."""
    for option in ("output", "predictions_output_file"):
        names = getattr(args, option)
        if names is not None and names.count(",") != args.input_file.count(","):
            raise ConfigurationError(
                f"--{option.replace('_', '-')} {names}: expected a file for each file of data, "
                f"separated by commas: {args.input_file}"
            )

    def load_archive(path: str, cuda_device: int, overrides: str, **_: Any) -> Any:
        archive = open_archive(path, cuda_device, overrides)
        config = archive.config.params
        # The evaluator that writes answers, unless the config has another one.
        evaluation = as_object(Evaluator, config.get("evaluation") or {}, "evaluation")
        config["evaluation"] = {"type": "elmo", **evaluation}
        config["validation_data_loader"] = evaluation_loader(config, args.batch_size)
        return archive

    with configs_by_name(), named_errors(), replaced(allennlp_command, load_archive=load_archive):
        metrics = allennlp_command.evaluate_from_archive(
            archive_file=args.archive_file,
            input_file=args.input_file,
            metrics_output_file=args.output,
            predictions_output_file=args.predictions_output_file,
            cmd_overrides=args.overrides,
            cuda_device=args.cuda_device,
        )
    check_loss(metrics)
    return metrics


def evaluation_loader(config: dict[str, Any], batch_size: int | None) -> dict[str, Any]:
    """
    Returns the config of a loader that reads all data once, in batches of `batch_size` inputs. By
    default, batches are those of the validation, or those of the training without a validation's.
    """
    name = "validation_data_loader" if config.get("validation_data_loader") else "data_loader"
    loader = dict(as_object(DataLoader, config.get(name) or {}, name))
    sampler = loader.get("batch_sampler")
    for option in ("batches_per_epoch", "drop_last"):
        loader.pop(option, None)
    if isinstance(sampler, dict):
        loader["batch_sampler"] = {name: sampler[name] for name in sampler if name != "drop_last"}
    if batch_size is None:
        return loader
    if isinstance(sampler, dict) and "batch_size" in sampler:
        loader["batch_sampler"]["batch_size"] = batch_size
        return loader
    kind = DataLoader.by_name(loader.get("type", DataLoader.default_implementation))
    if "batch_size" not in inspect.signature(kind).parameters:
        raise ConfigurationError(
            f"--batch-size: the model's data come in batches of another kind ({kind.__name__}); "
            "leave the option out, or set an argument of validation_data_loader by --overrides"
        )
    loader.pop("batch_sampler", None)
    return {**loader, "batch_size": batch_size}

import argparse
import copy
import inspect
import json
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.commands.in_allennlp.check_arguments import as_object
from elmo_tasks.commands.in_allennlp.named_errors import named_errors
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.evaluator import check_loss
from elmo_tasks.training.config_names import configs_by_name


def evaluate(args: argparse.Namespace) -> dict[str, Any]:
    """
    Runs `elmo-tasks evaluate`, and returns the metrics of all files. With several files, the names
    of the metrics begin with the name of the file.
    """
    paths = _data_paths(args.input_file)
    outputs = _outputs(args, "output", len(paths))
    predictions = _outputs(args, "predictions_output_file", len(paths))
    with configs_by_name(), named_errors():
        archive = open_archive(args.archive_file, args.cuda_device, args.overrides)
        config = archive.config.as_dict(quiet=True)
        prepare_environment(archive.config.duplicate())
        evaluation = as_object(Evaluator, config.get("evaluation") or {}, "evaluation")
        evaluator = Evaluator.from_params(
            # The evaluator that writes answers, unless the config has another one.
            Params({"type": "elmo", **evaluation, "cuda_device": args.cuda_device})
        )
        loader = evaluation_loader(config, args.batch_size)
        metrics: dict[str, Any] = {}
        for index, path in enumerate(paths):
            data = DataLoader.from_params(
                Params(copy.deepcopy(loader)),
                reader=archive.validation_dataset_reader,
                data_path=path,
            )
            data.index_with(archive.model.vocab)
            scores = evaluator(
                archive.model.eval(),
                data,
                metrics_output_file=outputs[index],
                predictions_output_file=predictions[index],
            )
            start = f"{Path(path).stem if isinstance(path, str) else index}_"
            metrics |= {f"{start if paths[1:] else ''}{name}": scores[name] for name in scores}
    check_loss(metrics)
    return metrics


def _data_paths(names: str) -> list[Any]:
    """
    Returns the paths in a list with commas. If the items are JSON, returns their values, because
    some readers take JSON in place of a path.
    """
    try:
        return json.loads(f"[{names}]")
    except json.JSONDecodeError:
        return names.split(",")


def _outputs(args: argparse.Namespace, option: str, num_paths: int) -> list[str | None]:
    """Returns the file that an option names for each file of data."""
    names = getattr(args, option)
    if names is None:
        return [None] * num_paths
    if len(names.split(",")) != num_paths:
        raise ConfigurationError(
            f"--{option.replace('_', '-')} {names}: give one file for each input file, "
            f"separated by commas; the input files are {args.input_file}"
        )
    return names.split(",")


def evaluation_loader(config: dict[str, Any], batch_size: int | None) -> dict[str, Any]:
    """
    Returns the config of a loader that reads all data once, in batches of `batch_size` inputs. By
    default, the batches are made as for validation, or if the config has no loader for validation,
    as for training.
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

"""Configs, data and steps of trainings, for the benchmarks that train."""

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, TensorDict, Vocabulary
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer

import elmo_tasks.plugin  # noqa: F401  registers every name
from elmo_tasks.common.package_data import config_folder


def config_of(task: str, variant: str, *changes: str) -> dict[str, Any]:
    """Returns a config of the imported package, to which objects of jsonnet are added."""
    path = config_folder() / task / f"{variant}.jsonnet"
    snippet = " + ".join([f"(import '{path}')", *changes])
    return json.loads(_jsonnet.evaluate_snippet(variant, snippet))


def model_of(config: dict[str, Any], vocab: Vocabulary) -> Model:
    return Model.from_params(Params(copy.deepcopy(config["model"])), vocab=vocab)


def loader_of(
    config: dict[str, Any], max_instances: int | None = None, path: str | None = None
) -> tuple[DataLoader, Vocabulary]:
    """Returns the loader of a config with an index, and the vocabulary of its data."""
    params = Params(copy.deepcopy(config))
    reader = DatasetReader.from_params(
        Params({**config["dataset_reader"], "max_instances": max_instances})
    )
    path = path or config["train_data_path"]
    loader = DataLoader.from_params(params["data_loader"], reader=reader, data_path=path)
    # A vocabulary of a config may have the words of files that lie elsewhere.
    about = params.get("vocabulary", {})
    vocab = Vocabulary.from_params(about, instances=loader.iter_instances())
    loader.index_with(vocab)
    return loader, vocab


def optimizer_of(model: Model, trainer: dict[str, Any]) -> torch.optim.Optimizer:
    trained = [
        (name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad
    ]
    return Optimizer.from_params(Params({**trainer["optimizer"]}), model_parameters=trained)


def training(
    model: Model, trainer: dict[str, Any], batches: Iterable[TensorDict]
) -> Callable[[], None]:
    """
    Returns what `elmo-tasks train` does with batches after reading them: the loss, its gradients,
    their norm, and the optimizer.
    """
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = optimizer_of(model, trainer)
    model.train()

    def train() -> None:
        for batch in batches:
            optimizer.zero_grad()
            loss = model(**batch)["loss"] + (model.get_regularization_penalty() or 0)
            loss.backward()
            if trainer.get("grad_norm") is not None:
                torch.nn.utils.clip_grad_norm_(trained, trainer["grad_norm"])
            optimizer.step()

    return train

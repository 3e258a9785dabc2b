"""The task models, built from their shrunk configs, with the instances of the fixtures."""

import copy
import functools
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.models import Model

from tests.helpers.configs import SHIPPED, tiny


class Task:
    """
    The configs of a task, shrunk by the overlay of the fixtures.

    # Parameters

    name: A folder of training_configs.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.variants = SHIPPED[name]

    def config(self, variant: str = "both", change: str = "{}") -> dict[str, Any]:
        """Returns a variant, changed by a jsonnet object."""
        return tiny(self.name, variant, change)

    def build(self, change: str = "{}", variant: str = "both") -> "Built":
        built, state = _build(self, change, variant)
        torch.set_rng_state(state)
        return copy.deepcopy(built)


@functools.lru_cache(maxsize=4)
def _build(task: Task, change: str, variant: str) -> tuple["Built", torch.Tensor]:
    """Returns a model with its instances, and the state in which making them leaves PyTorch."""
    return Built(task.config(variant, change)), torch.get_rng_state()


class Built:
    """A model and the instances of the fixture, from a config."""

    def __init__(self, config: dict[str, Any]) -> None:
        torch.manual_seed(0)
        params = Params(config)
        reader = params.get("validation_dataset_reader") or params["dataset_reader"]
        self.reader = DatasetReader.from_params(reader)
        self.instances = list(self.reader.read(params["validation_data_path"]))
        self.vocab = Vocabulary.from_instances(self.instances)
        self.model: Any = Model.from_params(params["model"], vocab=self.vocab).eval()

    def tensors(self, instances: list[Instance], **lengths: int) -> dict[str, Any]:
        """Returns a batch, with the fields in `lengths` padded to that many tokens."""
        batch = Batch(instances)
        batch.index_instances(self.vocab)
        padding = batch.get_padding_lengths()
        for field, length in lengths.items():
            for name in padding[field]:
                if "num_token_characters" not in name:
                    padding[field][name] = length
        return batch.as_tensor_dict(padding)

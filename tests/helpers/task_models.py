import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.common.testing import ModelTestCase
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.models import Model

ROOT = Path(__file__).parents[2]


class Task:
    """
    The configs of a task, shrunk by the overlay of the fixtures.

    # Parameters

    name : `str`
        A folder of training_configs.
    """

    def __init__(self, name: str) -> None:
        self.folder = ROOT / "training_configs" / name
        self.variants = sorted(path.stem for path in self.folder.glob("*.jsonnet"))
        assert {"baseline", "input", "output", "both", "last_only", "lambda_1", "paper"} <= set(
            self.variants
        )

    def config(self, variant: str = "both", change: str = "{}") -> dict[str, Any]:
        """A variant, changed by jsonnet, and evaluated."""
        path = self.folder / f"{variant}.jsonnet"
        snippet = f"(import '{path}') + (import '{ROOT}/fixtures/tiny.libsonnet') + {change}"
        return json.loads(_jsonnet.evaluate_snippet("test", snippet))

    def build(self, change: str = "{}", variant: str = "both") -> "Built":
        return Built(self.config(variant, change))


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
        """A batch, with some fields padded to a length."""
        batch = Batch(instances)
        batch.index_instances(self.vocab)
        padding = batch.get_padding_lengths()
        for field, length in lengths.items():
            for name in padding[field]:
                if "num_token_characters" not in name:
                    padding[field][name] = length
        return batch.as_tensor_dict(padding)


class VariantTestCase(ModelTestCase):
    def ensure_works(
        self,
        config: dict[str, Any],
        overrides: dict[str, Any],
        gradients_to_ignore: set[str] | None = None,
        keys_to_ignore: Iterable[str] = (),
    ) -> None:
        """AllenNLP's own checks: it trains, is saved and loaded, and is the same in a batch."""
        config_file = self.TEST_DIR / "config.json"
        config_file.write_text(json.dumps(config))
        self.ensure_model_can_train_save_and_load(
            config_file, overrides=json.dumps(overrides), gradients_to_ignore=gradients_to_ignore
        )
        self.set_up_model(config_file, config["validation_data_path"])
        self.ensure_batch_predictions_are_consistent(keys_to_ignore=keys_to_ignore)

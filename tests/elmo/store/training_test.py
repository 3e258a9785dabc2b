import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.training import TrainerCallback

from elmo_tasks.kernels.frozen_product import has_onednn
from tests.helpers.configs import tiny
from tests.helpers.stored_bilms import num_entries


@TrainerCallback.register("losses")
class Losses(TrainerCallback):
    """Notes the loss of every step."""

    noted: list[float] = []

    def on_batch(self, *args: Any, is_training: bool, **kwargs: Any) -> None:
        if is_training:
            batch_outputs = args[2]
            self.noted.append(batch_outputs[0]["loss"].item())


def train(folder: Path, store: dict[str, Any] | None) -> list[float]:
    """Trains with ELMo at both places, and returns the loss of every step."""
    params = tiny("sst", "both", f"{{ store: {json.dumps(store)} }}")
    params["data_loader"]["batch_sampler"]["batch_size"] = 4
    params["trainer"] |= {"num_epochs": 3, "callbacks": ["losses"]}
    Losses.noted = []
    train_model(Params(params), str(folder))
    return Losses.noted


def test_a_training_has_the_same_losses_with_a_store_and_without(tmp_path: Path) -> None:
    store = {"path": str(tmp_path / "store"), "dtype": "float32", "memory": 0.002}
    # The check of oneDNN, which each process makes once, must not draw from the seeded numbers.
    has_onednn.cache_clear()

    without = train(tmp_path / "without", None)
    filling, filled = (train(tmp_path / name, store) for name in ("filling", "filled"))

    assert len(without) >= 20
    assert without[:20] == pytest.approx(filling[:20], abs=1e-5)
    assert without[:20] == pytest.approx(filled[:20], abs=1e-5)
    assert num_entries(str(store["path"]))

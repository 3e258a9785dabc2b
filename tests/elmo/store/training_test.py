import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.predictors import Predictor
from allennlp.training import GradientDescentTrainer, TrainerCallback
from torch.nn.parallel import DistributedDataParallel

from elmo_tasks.elmo.store.layer_store import LayerStore
from elmo_tasks.kernels.frozen_product import has_onednn
from elmo_tasks.modules.token_embedder import ElmoBiLmEmbedder
from tests.helpers.bilm_examples import ids_of, sentences
from tests.helpers.configs import tiny
from tests.helpers.processes import end, start
from tests.helpers.stored_bilms import fixture_bilm, num_entries

SENTENCE = {"sentence": "It 's a film of wit and charm ."}


@TrainerCallback.register("losses")
class Losses(TrainerCallback):
    """Notes the loss of every step."""

    noted: list[float] = []

    def on_batch(
        self,
        trainer: GradientDescentTrainer,
        batch_inputs: Any,
        batch_outputs: Any,
        batch_metrics: Any,
        epoch: int,
        batch_number: int,
        is_training: bool,
        **kwargs: Any,
    ) -> None:
        if is_training:
            self.noted.append(batch_outputs[0]["loss"].item())


def config(store: Any, variant: str = "both") -> dict[str, Any]:
    """Returns the config of a training of SST, shrunk."""
    return tiny("sst", variant, f"{{ store: {json.dumps(store)} }}")


def train(folder: Path, store: dict[str, Any] | None) -> list[float]:
    """Trains with ELMo at both places, and returns the loss of every step."""
    params = config(store)
    params["data_loader"]["batch_sampler"]["batch_size"] = 4
    params["trainer"] |= {"num_epochs": 4, "callbacks": ["losses"]}
    Losses.noted = []
    train_model(Params(params), str(folder))
    return Losses.noted


@pytest.mark.parametrize(
    ("store", "params"),
    [("stores/sst", {"path": "stores/sst"}), ({"memory": 500}, {"memory": 500})],
    ids=str,
)
def test_the_field_store_of_a_config_gives_the_bilm_a_store(
    store: Any, params: dict[str, Any]
) -> None:
    assert config(store)["model"]["text_embedder"]["bilm"]["store"] == params
    assert "store" not in config(None)["model"]["text_embedder"]["bilm"]
    # The baseline has no biLM, so the field changes nothing.
    assert config(store, "baseline") == config(None, "baseline")


@pytest.mark.parametrize("store", [True, 5, ["stores/sst"]])
def test_a_value_that_is_no_store_is_refused_by_jsonnet(store: Any) -> None:
    with pytest.raises(RuntimeError, match="store must be null, a folder, or an object with path"):
        config(store)


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


def test_an_archive_answers_the_same_without_the_store_of_its_training(tmp_path: Path) -> None:
    path, other = tmp_path / "store", tmp_path / "other"
    train(tmp_path / "model", {"path": str(path), "dtype": "float32"})
    archive = tmp_path / "model" / "model.tar.gz"

    with_folder = Predictor.from_path(archive).predict_json(SENTENCE)
    shutil.rmtree(path)
    without_folder = Predictor.from_path(archive).predict_json(SENTENCE)

    assert without_folder["probabilities"] == with_folder["probabilities"]
    assert not path.exists()

    asked_for = {"model.text_embedder.bilm.store": {"path": str(other), "dtype": "float32"}}
    predictor = Predictor.from_path(archive, overrides=json.dumps(asked_for))
    answer = predictor.predict_json(SENTENCE)["probabilities"]

    assert answer == pytest.approx(without_folder["probabilities"], abs=1e-5)
    assert num_entries(other)
    assert not path.exists()


def test_processes_of_a_distributed_training_share_a_store(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    batches = [ids_of(sentences(length, length + 1)) for length in range(3, 9)]
    expected = [fixture_bilm()(batch).layers for batch in batches]

    def work(rank: int) -> None:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{tmp_path}/init", world_size=2, rank=rank
        )
        embedder = ElmoBiLmEmbedder(fixture_bilm(LayerStore(path, "float32", 0)))
        model = DistributedDataParallel(embedder)
        for _ in range(2):
            # Each process reads its own batches, and then those of the other one.
            for batch, layers in zip(batches[rank::2], expected[rank::2]):
                model(batch).sum().backward()
                torch.testing.assert_close(embedder.bilm(batch).layers, layers, rtol=0, atol=1e-5)
            rank = 1 - rank
        torch.distributed.barrier()

    processes = [start(partial(work, rank)) for rank in range(2)]

    assert [end(process) for process in processes] == [0, 0]

    # Some batches have a sentence in common.
    assert num_entries(path) == len(
        {row[row > 0].tobytes() for batch in batches for row in batch.numpy()}
    )

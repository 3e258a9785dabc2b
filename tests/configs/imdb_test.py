import json
from pathlib import Path
from typing import Any

import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from tests.helpers.configs import config, tiny

# One is longer than the reviews of the fixture, and has words that are not in it.
REVIEWS = ["A warm film about goats, and not a dull minute!", "Dull. " * 40, "Zzyzx?"]


def trainable(name: str) -> dict[str, Any]:
    # Most words of so few reviews are there once.
    return tiny("imdb", name, "{ max_tokens: 60, min_count: 1 }")


def test_reviews_are_texts_of_ones_own_with_other_numbers() -> None:
    reviews, own = (Params(config(*each)).as_flat_dict() for each in CONFIGS)

    changed = {key for key in reviews.keys() | own.keys() if reviews.get(key) != own.get(key)}
    assert changed == {
        "dataset_reader.max_tokens",
        "train_data_path",
        "validation_data_path",
        "model.encoder.hidden_size",
        "model.feedforward.hidden_dims",
        "model.feedforward.input_dim",
        "trainer.num_epochs",
        "trainer.patience",
    }


CONFIGS = [("imdb", "elmo"), ("classify", "input")]


def test_elmo_learns_the_reviews_and_loads_with_the_same_answers(tmp_path: Path) -> None:
    params = trainable("elmo")
    params["trainer"] |= {"num_epochs": 12, "patience": None}
    params["trainer"]["optimizer"]["lr"] = 0.02

    model = train_model(Params(params), str(tmp_path / "model")).eval()

    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["best_validation_accuracy"] >= 0.9
    archive = load_archive(tmp_path / "model" / "model.tar.gz")
    trained = Predictor.by_name("elmo_classify")(model, archive.validation_dataset_reader)
    batch = [{"text": review} for review in REVIEWS]
    answers = trained.predict_batch_json(batch)
    predictor = Predictor.from_archive(archive)
    # Floats, compared as they are.
    assert predictor.predict_batch_json(batch) == answers
    alone = [predictor.predict_json(review) for review in batch]
    logits = torch.tensor([answer["logits"] for answer in (*alone, *answers)])
    torch.testing.assert_close(*logits.chunk(2), rtol=0, atol=1e-5)

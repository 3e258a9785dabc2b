import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.modules.token_embedder import ElmoBiLmEmbedder
from tests.helpers.configs import config, tiny

# One is longer than the reviews of the fixture, and has words that are not in it.
REVIEWS = ["A warm film about goats, and not a dull minute!", "Dull. " * 40, "Zzyzx?"]


def trainable(name: str) -> dict[str, Any]:
    # Most words of so few reviews are there once.
    return tiny("imdb", name, "{ max_tokens: 60, min_count: 1 }")


def test_elmo_adds_an_embedder_its_ids_its_penalty_and_its_width_alone() -> None:
    baseline, elmo = (Params(config("imdb", name)).as_flat_dict() for name in ("baseline", "elmo"))

    added = {key for key in elmo if key not in baseline}
    embedder = "model.text_field_embedder.token_embedders.elmo."
    parts = (embedder, "dataset_reader.token_indexers.elmo.", "model.regularizer.")
    assert all(key.startswith(parts) for key in added)
    assert {key for key in baseline if baseline[key] != elmo.get(key)} == {
        "model.seq2seq_encoder.input_size"
    }
    # The learned vectors have 100, mini 2 * 128.
    widths = [params["model.seq2seq_encoder.input_size"] for params in (baseline, elmo)]
    assert widths == [100, 356]
    assert elmo[f"{embedder}type"] == "elmo_bilm"


def test_the_output_is_no_place_of_a_model_of_allennlps() -> None:
    with pytest.raises(RuntimeError, match="elmo_at can be .* or .* here"):
        config("imdb", "elmo", "{ elmo_at: ['input', 'output'] }")


@pytest.mark.parametrize("name", ["baseline", "elmo"])
def test_what_is_saved_and_loaded_gives_the_same_answers_bit_for_bit(
    name: str, tmp_path: Path
) -> None:
    model = train_model(Params(trainable(name)), str(tmp_path / "model")).eval()

    loaded = [load_archive(tmp_path / "model" / "model.tar.gz") for _ in range(2)]

    embedders = [part for part in model.modules() if isinstance(part, ElmoBiLmEmbedder)]
    assert len(embedders) == (name == "elmo")
    trained = Predictor.by_name("text_classifier")(model, loaded[0].validation_dataset_reader)
    batch = [{"sentence": review} for review in REVIEWS]
    answers = trained.predict_batch_json(batch)
    assert len({tuple(answer["logits"]) for answer in answers}) == len(REVIEWS)
    for archive in loaded:
        predictor = Predictor.from_archive(archive)
        # Floats, compared as they are.
        assert predictor.predict_batch_json(batch) == answers
        alone = [predictor.predict_json(review) for review in batch]
        assert [predictor.predict_json(review) for review in batch] == alone
        logits = torch.tensor([answer["logits"] for answer in (*alone, *answers)])
        torch.testing.assert_close(*logits.chunk(2), rtol=0, atol=1e-5)


def test_elmo_learns_the_reviews(tmp_path: Path) -> None:
    params = trainable("elmo")
    params["trainer"] |= {"num_epochs": 12, "patience": None}
    params["trainer"]["optimizer"]["lr"] = 0.02

    train_model(Params(params), str(tmp_path / "model"))

    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["best_validation_accuracy"] >= 0.9

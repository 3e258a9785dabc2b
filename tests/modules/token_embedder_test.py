import copy
import json
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.models import load_archive
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.elmo import Elmo
from allennlp.predictors import Predictor

from elmo_tasks.bilm import make_bilm
from elmo_tasks.modules.token_embedder import ElmoBiLmEmbedder
from tests.helpers.archives import classifier
from tests.helpers.reference_bilm import FIXTURE_FILES

SENTENCES = [["A", "film", "of", "charm", "."], ["It", "is"], ["na\u00efve"]]

OURS: dict[str, Any] = {
    "type": "elmo_bilm",
    "bilm": {
        "options": json.loads(FIXTURE_FILES[0].read_text()),
        "pretrained_file": str(FIXTURE_FILES[1]),
        "state": "reset",
    },
    "mix": {"dropout": 0},
}
ALLENNLPS: dict[str, Any] = {
    "type": "elmo_token_embedder",
    "options_file": str(FIXTURE_FILES[0]),
    "weight_file": str(FIXTURE_FILES[1]),
    "dropout": 0,
}


def text_of(sentence: list[str]) -> TextField:
    return TextField([Token(word) for word in sentence], {"elmo": ELMoTokenCharactersIndexer()})


def text_field_embedder(config: dict[str, Any]) -> TextFieldEmbedder:
    # AllenNLP removes keys while it constructs objects.
    params = Params({"token_embedders": {"elmo": copy.deepcopy(config)}})
    return TextFieldEmbedder.from_params(params).eval()


def batch_of(*texts: TextField | ListField) -> dict[str, dict[str, torch.Tensor]]:
    batch = Batch([Instance({"text": text}) for text in texts])
    batch.index_instances(Vocabulary())
    return batch.as_tensor_dict()["text"]


def test_vectors_equal_those_of_allennlps_elmo_token_embedder() -> None:
    batch = batch_of(*map(text_of, SENTENCES))

    vectors = text_field_embedder(OURS)(batch)

    # AllenNLP's first batch starts from zeros, as each of our batches does.
    torch.testing.assert_close(vectors, text_field_embedder(ALLENNLPS)(batch), atol=1e-5, rtol=0)
    elmo = Elmo(*FIXTURE_FILES, num_output_representations=1, dropout=0.0)
    (expected,) = elmo(batch["elmo"]["elmo_tokens"])["elmo_representations"]
    torch.testing.assert_close(vectors, expected, atol=1e-5, rtol=0)
    assert vectors.shape == (3, 5, 32)


def test_texts_in_lists_are_embedded_as_texts_alone() -> None:
    wrapped = ListField([text_of(sentence) for sentence in SENTENCES])
    batch = batch_of(wrapped, ListField([text_of(SENTENCES[1])]))

    vectors = text_field_embedder(OURS)(batch, num_wrapping_dims=1)

    assert vectors.shape == (2, 3, 5, 32) and not vectors[1, 1:].any()
    alone = text_field_embedder(OURS)(batch_of(*map(text_of, SENTENCES)))
    torch.testing.assert_close(vectors[0], alone, atol=1e-5, rtol=0)
    torch.testing.assert_close(vectors[1, 0, :2], alone[1, :2], atol=1e-5, rtol=0)


def test_the_mix_is_by_default_trained_with_a_dropout_of_a_half() -> None:
    bilm = make_bilm(*FIXTURE_FILES)

    embedder = ElmoBiLmEmbedder(bilm)

    assert embedder.mix.dropout.p == 0.5 and embedder.mix.layers == "all"
    trained = [name for name, parameter in embedder.named_parameters() if parameter.requires_grad]
    assert trained == ["mix.scalar_parameters", "mix.gamma"]
    assert embedder.get_output_dim() == 32


def test_an_archive_of_allennlps_classifier_predicts_after_the_weights_file_is_gone(
    tmp_path: Path,
) -> None:
    weights = tmp_path / "weights.hdf5"
    weights.write_bytes(FIXTURE_FILES[1].read_bytes())
    # By default the biLM starts from a snapshot, which is in the archive as well.
    bilm = {"options": OURS["bilm"]["options"], "pretrained_file": str(weights)}
    archive = classifier(tmp_path, elmo={**OURS, "bilm": bilm})
    weights.unlink()

    predictor = Predictor.from_archive(load_archive(archive))

    embedder = predictor._model._text_field_embedder.token_embedder_elmo
    expected = make_bilm(*FIXTURE_FILES).state_dict()
    torch.testing.assert_close(embedder.bilm.state_dict(), expected, rtol=0, atol=0)
    assert predictor.predict_json({"sentence": "It is"})["label"] in ("even", "odd")

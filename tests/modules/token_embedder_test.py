import copy
import json
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Instance, Token, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.models import Model, archive_model, load_archive
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.elmo import Elmo

from elmo_tasks.bilm import make_bilm
from elmo_tasks.modules.token_embedder import ElmoBiLmEmbedder
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
READER = {
    "type": "text_classification_json",
    "tokenizer": "just_spaces",
    "token_indexers": {"tokens": "single_id", "elmo": "elmo_characters"},
    "skip_label_indexing": True,
}


def params_of(config: dict[str, Any]) -> Params:
    """Returns params of a copy, since AllenNLP removes keys while it constructs objects."""
    return Params(copy.deepcopy(config))


def text_of(sentence: list[str]) -> TextField:
    return TextField([Token(word) for word in sentence], {"elmo": ELMoTokenCharactersIndexer()})


def text_field_embedder(config: dict[str, Any]) -> TextFieldEmbedder:
    params = params_of({"token_embedders": {"elmo": config}})
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
    shorter = ListField([text_of(SENTENCES[1])])

    for config in (OURS, ALLENNLPS):
        embedder = text_field_embedder(config)
        vectors = embedder(batch_of(wrapped, shorter), num_wrapping_dims=1)
        assert vectors.shape == (2, 3, 5, 32)
        for (row, index), sentence in {
            **{(0, index): sentence for index, sentence in enumerate(SENTENCES)},
            (1, 0): SENTENCES[1],
        }.items():
            alone = text_field_embedder(config)(batch_of(text_of(sentence)))[0]
            length = len(sentence)
            torch.testing.assert_close(vectors[row, index, :length], alone, atol=1e-5, rtol=0)
            assert not vectors[row, index, length:].any()
        assert not vectors[1, 1:].any()


def test_the_mix_is_by_default_trained_with_a_dropout_of_a_half() -> None:
    bilm = make_bilm(*FIXTURE_FILES)

    embedder = ElmoBiLmEmbedder(bilm)

    assert embedder.mix.dropout.p == 0.5 and embedder.mix.layer is None
    trained = [name for name, parameter in embedder.named_parameters() if parameter.requires_grad]
    assert trained == ["mix.scalar_parameters", "mix.gamma"]
    assert embedder.get_output_dim() == 32


# In AllenNLP's own `basic_classifier`.


def classifier_config(embedder: dict[str, Any]) -> dict[str, Any]:
    words = {"type": "embedding", "embedding_dim": 3}
    encoder = {"type": "bag_of_embeddings", "embedding_dim": 35, "averaged": True}
    return {
        "type": "basic_classifier",
        "text_field_embedder": {"token_embedders": {"tokens": words, "elmo": embedder}},
        "seq2vec_encoder": encoder,
        "num_labels": 2,
    }


def read(folder: Path) -> list[Instance]:
    lines = [{"text": " ".join(words), "label": k % 2} for k, words in enumerate(SENTENCES)]
    path = folder / "text.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return list(DatasetReader.from_params(params_of(READER)).read(path))


def make_classifier(embedder: dict[str, Any], instances: list[Instance]) -> Model:
    vocab = Vocabulary.from_instances(instances)
    return Model.from_params(params_of(classifier_config(embedder)), vocab=vocab)


def test_an_archive_predicts_after_the_weights_file_is_gone(tmp_path: Path) -> None:
    instances = read(tmp_path)
    weights, folder = tmp_path / "weights.hdf5", tmp_path / "archive"
    weights.write_bytes(FIXTURE_FILES[1].read_bytes())
    # By default the biLM starts from a snapshot, which is in the archive as well.
    bilm = {"options": OURS["bilm"]["options"], "pretrained_file": str(weights)}
    config = {**OURS, "bilm": bilm}
    model = make_classifier(config, instances).eval()
    model.vocab.save_to_files(str(folder / "vocabulary"))
    params_of({"model": classifier_config(config), "dataset_reader": READER}).to_file(
        str(folder / "config.json")
    )
    torch.save(model.state_dict(), folder / "best.th")
    archive_model(folder)
    weights.unlink()

    loaded = load_archive(folder / "model.tar.gz").model

    answers, expected = (each.forward_on_instances(instances) for each in (loaded, model))
    for answer, other in zip(answers, expected, strict=True):
        assert (answer["probs"] == other["probs"]).all()

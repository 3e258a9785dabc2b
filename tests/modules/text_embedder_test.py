import copy
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, TextFieldTensors, Token, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.models import load_archive
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.elmo import Elmo, batch_to_ids
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding
from allennlp.predictors import Predictor

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.modules.text_embedder import ElmoBiLmEmbedder, ElmoTextEmbedder, EmbeddedText
from tests.helpers.archives import classifier
from tests.helpers.reference_bilm import FIXTURE_FILES

WORD_DIM, ELMO_DIM = 5, 32
PREMISE = [["A", "film", "of", "charm"], ["It", "is"]]
HYPOTHESIS = [["Charm"], ["A", "na\u00efve", "film"]]
PLACES = pytest.mark.parametrize(
    "places", [[], ["input"], ["output"], ["input", "output"]], ids=str
)


def make_embedder(places: list[str], requires_grad: bool = False, **mix: Any) -> ElmoTextEmbedder:
    torch.manual_seed(0)
    words = BasicTextFieldEmbedder({"tokens": Embedding(WORD_DIM, num_embeddings=30)})
    mixes: dict[str, Any] = {f"{place}_mix": {"dropout": 0.0, **mix} for place in places}
    state = "reset" if requires_grad else None
    bilm = make_bilm(*FIXTURE_FILES, state, requires_grad) if places else None
    embedder = ElmoTextEmbedder(words, bilm, **mixes)
    for factor, trained in enumerate(embedder.mixes().values(), 1):
        trained.gamma.data.fill_(float(factor))
        if trained.scalar_parameters is not None:
            trained.scalar_parameters.data.copy_(torch.tensor([0.1, -0.5, 0.7]) * factor)
    return embedder


def tensors_of(sentences: list[list[str]]) -> TextFieldTensors:
    """Returns the tensors of a text field with the indexers `tokens` and `elmo`."""
    longest = max(map(len, sentences))
    ids = torch.zeros(len(sentences), longest, dtype=torch.long)
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = torch.tensor([1 + len(word) for word in sentence])
    return {"tokens": {"tokens": ids}, "elmo": {"elmo_tokens": batch_to_ids(sentences)}}


def expected_text(embedder: ElmoTextEmbedder, sentences: list[list[str]]) -> EmbeddedText:
    """Computes the embedded text from a run of the biLM for this text alone."""
    text = tensors_of(sentences)
    x = embedder.words({"tokens": text["tokens"]})
    mask = text["tokens"]["tokens"] > 0
    elmo = x.new_zeros(*mask.shape, 0)
    if embedder.bilm is not None:
        layers, _ = embedder.bilm(text["elmo"]["elmo_tokens"])
        if embedder.input_mix is not None:
            x = torch.cat([x, embedder.input_mix(layers, mask)], dim=-1)
        if embedder.output_mix is not None:
            elmo = embedder.output_mix(layers, mask)
    return EmbeddedText(x, elmo, mask)


def batches_of(embedder: ElmoTextEmbedder) -> list[torch.Size]:
    """Returns a list that will have the shape of each batch that the biLM reads."""
    batches: list[torch.Size] = []
    assert embedder.bilm is not None
    embedder.bilm.register_forward_hook(lambda _, inputs, __: batches.append(inputs[0].shape))
    return batches


@PLACES
def test_each_text_has_elmo_where_a_mix_is_given(places: list[str]) -> None:
    embedder = make_embedder(places)

    texts = embedder(tensors_of(PREMISE), tensors_of(HYPOTHESIS))

    assert len(texts) == 2
    for text, sentences in zip(texts, (PREMISE, HYPOTHESIS), strict=True):
        torch.testing.assert_close(text, expected_text(embedder, sentences), atol=1e-5, rtol=0)
        assert text.x.shape == (2, *text.mask.shape[1:], embedder.get_output_dim())
        assert text.elmo.shape == (2, *text.mask.shape[1:], embedder.get_elmo_dim())
        assert text.mask.sum(dim=1).tolist() == [len(sentence) for sentence in sentences]
        assert not text.x[..., WORD_DIM:][~text.mask].any() and not text.elmo[~text.mask].any()
        h = torch.randn(*text.mask.shape, 7)
        assert torch.equal(text.extend(h), torch.cat([h, text.elmo], dim=-1))
    assert embedder.get_output_dim() == WORD_DIM + ELMO_DIM * ("input" in places)
    assert embedder.get_elmo_dim() == ELMO_DIM * ("output" in places)


def test_a_frozen_bilm_reads_equal_texts_once() -> None:
    embedder = make_embedder(["input", "output"]).eval()
    batches = batches_of(embedder)
    sentences = [PREMISE[0], HYPOTHESIS[1], PREMISE[0], PREMISE[1], PREMISE[0]]

    (text,) = embedder(tensors_of(sentences))

    assert batches == [(3, 4, 50)]
    torch.testing.assert_close(text, expected_text(embedder, sentences), atol=1e-5, rtol=0)


def test_a_bilm_that_trains_or_carries_its_state_reads_every_text() -> None:
    carries = make_embedder(["input"])
    carries.bilm = make_bilm(*FIXTURE_FILES, "carry")

    for embedder in (make_embedder(["input"], requires_grad=True), carries):
        batches = batches_of(embedder)
        embedder(tensors_of([PREMISE[0], PREMISE[0]]))
        assert batches == [(2, 4, 50)]


# Training.


def loss_of(embedder: ElmoTextEmbedder) -> torch.Tensor:
    texts = embedder(tensors_of(PREMISE), tensors_of(HYPOTHESIS))
    return torch.stack([part.square().sum() for text in texts for part in text[:2]]).sum()


@pytest.mark.parametrize("trains", [False, True])
def test_gradients_reach_the_mixes_the_words_and_a_bilm_that_trains(trains: bool) -> None:
    embedder = make_embedder(["input", "output"], trains)

    loss_of(embedder).backward()

    for name, parameter in embedder.named_parameters():
        if name.startswith("bilm.") and not trains:
            assert parameter.grad is None, name
        else:
            assert parameter.grad is not None and parameter.grad.any(), name


def test_metrics_are_the_weights_and_gamma_of_each_place() -> None:
    metrics = make_embedder(["input", "output"]).mix_metrics()

    expected = {"elmo_input_gamma": 1.0, "elmo_output_gamma": 2.0}
    for place, factor in (("input", 1), ("output", 2)):
        s = torch.softmax(torch.tensor([0.1, -0.5, 0.7]) * factor, dim=0)
        expected |= {f"elmo_{place}_s{j}": s[j].item() for j in range(3)}
    assert metrics == pytest.approx(expected)
    assert make_embedder([]).mix_metrics() == {}


# Construction and errors.


@pytest.mark.parametrize(
    "given", [["bilm"], ["input_mix"], ["output_mix"], ["input_mix", "output_mix"]]
)
def test_a_bilm_without_a_mix_or_a_mix_without_a_bilm_is_refused(given: list[str]) -> None:
    parts: dict[str, Any] = {"bilm": make_bilm(*FIXTURE_FILES), "input_mix": {}, "output_mix": {}}
    words = BasicTextFieldEmbedder({"tokens": Embedding(WORD_DIM, num_embeddings=30)})

    with pytest.raises(ConfigurationError, match="give bilm"):
        ElmoTextEmbedder(words, **{name: parts[name] for name in given})


def test_texts_without_char_ids_are_refused_where_elmo_is_used() -> None:
    text = tensors_of(PREMISE)
    without = {"tokens": text["tokens"]}

    with pytest.raises(ConfigurationError, match="an indexer named 'elmo' of type elmo_char_ids"):
        make_embedder(["input"])(without)

    (embedded,) = make_embedder([])(without)
    torch.testing.assert_close(embedded, make_embedder([])(text)[0])


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
    # The biLM starts from a snapshot by default. The archive contains the snapshot, too.
    bilm = {"options": OURS["bilm"]["options"], "pretrained_file": str(weights)}
    archive = classifier(tmp_path, elmo={**OURS, "bilm": bilm})
    weights.unlink()

    predictor = Predictor.from_archive(load_archive(archive))

    embedder = predictor._model._text_field_embedder.token_embedder_elmo
    expected = make_bilm(*FIXTURE_FILES).state_dict()
    torch.testing.assert_close(embedder.bilm.state_dict(), expected, rtol=0, atol=0)
    assert predictor.predict_json({"sentence": "It is"})["label"] in ("even", "odd")

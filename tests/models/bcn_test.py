import json
from pathlib import Path
from typing import Any

import _jsonnet
import numpy as np
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.testing import ModelTestCase
from allennlp.data import Batch, DatasetReader, Instance, Token, Vocabulary
from allennlp.models import Model

from elmo_tasks.models.bcn import Bcn, _attend

ROOT = Path(__file__).parents[2]
FIXTURE = "fixtures/sst.txt"
VARIANTS = sorted((ROOT / "training_configs" / "sst").glob("*.jsonnet"))
CHOICES = [
    "{ classifier: 'maxout' }",
    "{ output_place: 'integrator' }",
    "{ elmo_layer_norm: 'sentence' }",
    "{ granularity: '2-class' }",
]
# A variant and what it is changed by.
CASES = [(path, "{}") for path in VARIANTS]
CASES += [(ROOT / "training_configs" / "sst" / "both.jsonnet", choice) for choice in CHOICES]


def shrunk(path: Path, change: str = "{}") -> dict[str, Any]:
    """The config at `path` changed, shrunk by the overlay and evaluated."""
    snippet = f"(import '{path}') + (import '{ROOT}/fixtures/tiny.libsonnet') + {change}"
    return json.loads(_jsonnet.evaluate_snippet("test", snippet))


def both(change: str = "{}") -> dict[str, Any]:
    return shrunk(ROOT / "training_configs" / "sst" / "both.jsonnet", change)


@pytest.fixture(autouse=True)
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_variants_were_found() -> None:
    assert len(VARIANTS) >= 7


class TestVariants(ModelTestCase):
    @pytest.mark.parametrize(
        ("path", "change"), CASES, ids=lambda value: getattr(value, "stem", value)
    )
    def test_trains_saves_loads_and_is_the_same_in_a_batch(self, path: Path, change: str) -> None:
        config_file = self.TEST_DIR / "config.json"
        config_file.write_text(json.dumps(shrunk(path, change)))
        # AllenNLP compares the batches of two loaders.
        no_noise = json.dumps({"data_loader.batch_sampler.padding_noise": 0})
        self.ensure_model_can_train_save_and_load(config_file, overrides=no_noise)
        self.set_up_model(config_file, FIXTURE)
        self.ensure_batch_predictions_are_consistent()


class Built:
    """A model and the instances of the fixture, from a config."""

    def __init__(self, config: dict[str, Any]) -> None:
        torch.manual_seed(0)
        params = Params(config)
        self.reader = DatasetReader.from_params(params["validation_dataset_reader"])
        self.instances = list(self.reader.read(FIXTURE))
        self.vocab = Vocabulary.from_instances(self.instances)
        self.model: Bcn = Model.from_params(params["model"], vocab=self.vocab).eval()

    def tensors(self, instances: list[Instance], length: int | None = None) -> dict[str, Any]:
        batch = Batch(instances)
        batch.index_instances(self.vocab)
        lengths = batch.get_padding_lengths()
        for name in lengths["tokens"]:
            if length and name != "elmo___num_token_characters":
                lengths["tokens"][name] = length
        return batch.as_tensor_dict(lengths)


# The paper's equations over one sentence without padding, in NumPy; the text embedder is tested on
# its own.


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def lstm(weights: dict[str, np.ndarray], suffix: str, inputs: np.ndarray) -> np.ndarray:
    bias = weights[f"bias_ih_l0{suffix}"] + weights[f"bias_hh_l0{suffix}"]
    h = c = np.zeros(len(bias) // 4)
    outputs = []
    for x in inputs:
        gates = weights[f"weight_ih_l0{suffix}"] @ x + weights[f"weight_hh_l0{suffix}"] @ h + bias
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs)


def bilstm(encoder: torch.nn.Module, inputs: np.ndarray) -> np.ndarray:
    weights = {name: value.numpy() for name, value in encoder._module.state_dict().items()}
    backward = lstm(weights, "_reverse", inputs[::-1])[::-1]
    return np.concatenate([lstm(weights, "", inputs), backward], axis=-1)


def feedforward(network: torch.nn.Module, x: np.ndarray, relus: int) -> np.ndarray:
    for number, linear in enumerate(network._linear_layers):
        x = x @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()
        x = np.maximum(x, 0) if number < relus else x
    return x


def bcn(model: Bcn, x: np.ndarray, elmo: np.ndarray, at_encoder: bool) -> np.ndarray:
    h = bilstm(model.encoder, feedforward(model.feedforward, x, 1))
    x = np.concatenate([h, elmo], axis=-1) if at_encoder else h
    c = softmax(x @ x.T) @ x
    h = bilstm(model.integrator, np.concatenate([x, x - c, x * c], axis=-1))
    y = h if at_encoder else np.concatenate([h, elmo], axis=-1)
    attention = softmax(y @ model.pool_score.weight.detach().numpy()[0])
    pooled = np.concatenate([y.max(axis=0), y.min(axis=0), y.mean(axis=0), attention @ y])
    return feedforward(model.classifier, pooled, 2)


@pytest.mark.parametrize("place", ["encoder", "integrator"])
def test_logits_are_those_of_the_equations(place: str) -> None:
    built = Built(both(f"{{ output_place: '{place}' }}"))
    # Weights large enough for the attention to be far from uniform.
    model = built.model.double()
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.mul_(3)
    tensors = built.tensors(built.instances)
    with torch.no_grad():
        logits = model(**tensors)["logits"].numpy()
        (text,) = model.text_embedder(tensors["tokens"])
    for row, length in enumerate(text.mask.sum(dim=1)):
        x, elmo = text.x[row, :length].numpy(), text.elmo[row, :length].numpy()
        expected = bcn(model, x, elmo, at_encoder=place == "encoder")
        np.testing.assert_allclose(logits[row], expected, atol=1e-9)


def test_padding_has_no_part_in_the_pools_whatever_the_sign() -> None:
    model = Built(both()).model
    y = torch.rand(2, 3, 16) + 0.5
    for signed in (y, -y):
        mask = torch.tensor([[True, True, False], [True, True, True]])
        padded = signed.clone()
        padded[0, 2] = 0
        assert torch.allclose(
            model._pool(padded, mask)[:1], model._pool(signed[:1, :2], mask[:1, :2]), atol=1e-6
        )


def test_attention_gives_padding_nothing_where_all_scores_are_far_below_zero() -> None:
    x = torch.tensor([[[30.0, 0.0], [-30.0, 1.0], [0.0, 0.0]]])
    found = _attend(x, torch.tensor([[True, True, False]]))
    # Each of the two tokens finds itself.
    assert torch.allclose(found[:, :2], x[:, :2])
    # A query whose scores with both words are -1,000 still finds them, not the padding.
    x = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [-1000.0, 0.0]]])
    found = _attend(x, torch.tensor([[True, True, False]]))
    assert torch.allclose(found[0, 2], torch.tensor([1.0, 0.0]))


def test_padding_changes_neither_logits_nor_gradients() -> None:
    built = Built(both())
    results = []
    for length in (None, 40):
        built.model.zero_grad()
        output = built.model(**built.tensors(built.instances[:3], length))
        output["loss"].backward()
        gradients = [p.grad.clone() for p in built.model.parameters() if p.grad is not None]
        results.append((output["logits"], gradients))
    assert torch.allclose(results[0][0], results[1][0], atol=1e-6)
    for plain, padded in zip(results[0][1], results[1][1], strict=True):
        assert torch.allclose(plain, padded, atol=1e-6)


def test_gradients_reach_every_parameter_but_those_of_the_frozen_bilm() -> None:
    built = Built(both())
    built.model(**built.tensors(built.instances))["loss"].backward()
    without = {n for n, p in built.model.named_parameters() if p.grad is None or not p.grad.any()}
    bilm = {name for name, _ in built.model.named_parameters() if ".bilm." in name}
    assert without == bilm != set()


def test_sentence_of_a_thousand_tokens_has_probabilities() -> None:
    built = Built(both())
    instances = [built.reader.text_to_instance([Token("word")] * n) for n in (1000, 1)]
    for instance in instances:
        built.reader.apply_token_indexers(instance)
    output = built.model(**built.tensors(instances))["class_probabilities"]
    assert torch.allclose(output.sum(dim=1), torch.ones(2))


def test_predictions_speak_of_classes_by_name() -> None:
    built = Built(both())
    answer = built.model.forward_on_instance(built.instances[3])
    assert answer["tokens"] == ["(", "A", "pleasant", "stroll", ")", "in", "the", "rain"]
    assert set(answer["probabilities"]) == {
        "very negative", "negative", "neutral", "positive", "very positive",
    }  # fmt: skip
    number = int(np.argmax(answer["class_probabilities"]))
    assert answer["label"] == built.vocab.get_token_from_index(number, "labels")
    assert answer["probabilities"][answer["label"]] == max(answer["class_probabilities"])


def test_metrics_are_accuracy_and_the_weights_of_each_place() -> None:
    built = Built(both())
    output = built.model(**built.tensors(built.instances))
    right = output["logits"].argmax(dim=1) == built.tensors(built.instances)["label"]
    metrics = built.model.get_metrics(reset=True)
    assert metrics.pop("accuracy") == pytest.approx(right.float().mean().item())
    weights = [f"elmo_{place}_s{j}" for place in ("input", "output") for j in range(3)]
    assert metrics == pytest.approx(
        {**dict.fromkeys(weights, 1 / 3), "elmo_input_gamma": 1, "elmo_output_gamma": 1}
    )
    assert built.model.get_metrics()["accuracy"] == 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            "{ feedforward+: { input_dim: 5 } }",
            "output of text_embedder must match input of feed.*5",
        ),
        ("{ encoder+: { input_size: 5 } }", "output of feedforward must match input of encoder"),
        ("{ integrator+: { input_size: 5 } }", r"3 \* x.* must match input of integrator"),
        ("{ classifier+: { input_dim: 5 } }", r"4 \* output of integrator.* input of classifier"),
        ("{ classifier+: { hidden_dims: [9, 9, 7] } }", "number of classes .* got 7 and 5"),
        ("{ output_place: 'roof' }", "encoder or integrator, not 'roof'"),
    ],
)
def test_widths_that_do_not_fit_are_refused_by_their_names(change: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        Built(both(f"{{ model+: {change} }}"))

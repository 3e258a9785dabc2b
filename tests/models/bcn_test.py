import numpy as np
import pytest
import torch
from allennlp.data import Token

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.models.bcn import Bcn, _attend
from tests.helpers.numpy_layers import bilstm, feedforward, softmax
from tests.helpers.task_models import Task, VariantTestCase

TASK = Task("sst")
CHOICES = [
    "{ classifier: 'maxout' }",
    "{ output_place: 'integrator' }",
    "{ elmo_layer_norm: 'sentence' }",
    "{ granularity: '2-class' }",
]
# A variant and what it is changed by.
CASES = [(variant, "{}") for variant in TASK.variants] + [("both", each) for each in CHOICES]


class TestVariants(VariantTestCase):
    @pytest.mark.parametrize(("variant", "change"), CASES)
    def test_trains_saves_loads_and_is_the_same_in_a_batch(self, variant: str, change: str) -> None:
        # AllenNLP compares the batches of two loaders.
        no_noise = {"data_loader.batch_sampler.padding_noise": 0}
        self.ensure_works(TASK.config(variant, change), no_noise)


# The paper's equations over one sentence without padding, in NumPy; the text embedder is tested on
# its own.


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
    built = TASK.build(f"{{ output_place: '{place}' }}")
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
    model = TASK.build().model
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
    built = TASK.build()
    results = []
    for lengths in ({}, {"tokens": 40}):
        built.model.zero_grad()
        output = built.model(**built.tensors(built.instances[:3], **lengths))
        output["loss"].backward()
        gradients = [p.grad.clone() for p in built.model.parameters() if p.grad is not None]
        results.append((output["logits"], gradients))
    assert torch.allclose(results[0][0], results[1][0], atol=1e-6)
    for plain, padded in zip(results[0][1], results[1][1], strict=True):
        assert torch.allclose(plain, padded, atol=1e-6)


def test_gradients_reach_every_parameter_but_those_of_the_frozen_bilm() -> None:
    built = TASK.build()
    built.model(**built.tensors(built.instances))["loss"].backward()
    without = {n for n, p in built.model.named_parameters() if p.grad is None or not p.grad.any()}
    bilm = {name for name, _ in built.model.named_parameters() if ".bilm." in name}
    assert without == bilm != set()


def test_sentence_of_a_thousand_tokens_has_probabilities() -> None:
    built = TASK.build()
    instances = [built.reader.text_to_instance([Token("word")] * n) for n in (1000, 1)]
    for instance in instances:
        built.reader.apply_token_indexers(instance)
    output = built.model(**built.tensors(instances))["class_probabilities"]
    assert torch.allclose(output.sum(dim=1), torch.ones(2))


def test_predictions_speak_of_classes_by_name() -> None:
    built = TASK.build()
    answer = built.model.forward_on_instance(built.instances[3])
    assert answer["tokens"] == ["(", "A", "pleasant", "stroll", ")", "in", "the", "rain"]
    assert set(answer["probabilities"]) == {
        "very negative", "negative", "neutral", "positive", "very positive",
    }  # fmt: skip
    number = int(np.argmax(answer["class_probabilities"]))
    assert answer["label"] == built.vocab.get_token_from_index(number, "labels")
    assert answer["probabilities"][answer["label"]] == max(answer["class_probabilities"])


def test_metrics_are_accuracy_and_the_weights_of_each_place() -> None:
    built = TASK.build()
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
        TASK.build(f"{{ model+: {change} }}")

import numpy as np
import pytest
import torch

from elmo_tasks.models.bcn import Bcn, _attend
from tests.helpers.numpy_layers import bilstm, feedforward, softmax
from tests.helpers.task_models import Task

TASK = Task("sst")


def bcn(model: Bcn, x: np.ndarray, elmo: np.ndarray, at_encoder: bool) -> np.ndarray:
    """
    Computes the logits by the paper's equations over one sentence without padding, in NumPy. The
    text embedder is tested on its own.
    """
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
    model = TASK.build().model.double()
    mask = torch.tensor([[True, True, False], [True, True, True]])
    y = torch.rand(2, 3, 16, dtype=torch.double) + 0.5
    for signed in (y, -y):
        padded = signed.clone()
        padded[0, 2] = 0

        pooled = model._pool(padded, mask)[:1]

        torch.testing.assert_close(pooled, model._pool(signed[:1, :2], mask[:1, :2]))


def test_attention_gives_padding_nothing_where_all_scores_are_far_below_zero() -> None:
    mask = torch.tensor([[True, True, False]])
    itself = torch.tensor([[[30.0, 0.0], [-30.0, 1.0], [0.0, 0.0]]])
    # The third token is a query whose scores with both words are -1,000.
    far = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [-1000.0, 0.0]]])

    found, found_from_far = _attend(itself, mask), _attend(far, mask)

    assert torch.allclose(found[:, :2], itself[:, :2])
    assert torch.allclose(found_from_far[0, 2], torch.tensor([1.0, 0.0]))


@pytest.mark.parametrize("rate", [0.3, 0.7])
def test_dropout_is_before_the_feedforward_and_before_the_classifier(rate: float) -> None:
    built = TASK.build(f"{{ hidden_dim:: 32, model+: {{ dropout: {rate} }} }}")
    model = built.model
    # One sentence has no padding, which would be zeros too.
    tensors = built.tensors([built.instances[3]])
    inputs = {}
    for name in ("feedforward", "classifier"):
        getattr(model, name).register_forward_pre_hook(
            lambda _, args, name=name: inputs.update({name: args[0]})
        )

    model(**tensors)
    whole = dict(inputs)
    # The other layers drop nothing.
    model.dropout.train()
    model(**tensors)

    for name, dropped in inputs.items():
        assert (whole[name] != 0).all()
        assert (dropped == 0).double().mean().item() == pytest.approx(rate, abs=0.15)

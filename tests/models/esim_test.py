import numpy as np
import pytest
import torch

from elmo_tasks.models.esim import Esim, _softmax_over
from tests.helpers.numpy_layers import bilstm, feedforward, softmax
from tests.helpers.task_models import Task

TASK = Task("snli")


def logits_in_numpy(model: Esim, x: list[np.ndarray], elmo: list[np.ndarray]) -> np.ndarray:
    """
    Computes the paper's equations over one pair without padding, in NumPy. The text embedder is
    tested on its own.
    """
    a, b = (
        np.concatenate([bilstm(model.encoder, each), extra], axis=-1)
        for each, extra in zip(x, elmo)
    )
    scores = np.array([[a_i @ b_j for b_j in b] for a_i in a])
    pooled = []
    for own, found in ((a, softmax(scores) @ b), (b, softmax(scores.T) @ a)):
        enhanced = np.concatenate([own, found, own - found, own * found], axis=-1)
        v = bilstm(model.composer, feedforward(model.projection, enhanced, 1))
        pooled += [v.mean(axis=0), v.max(axis=0)]
    return feedforward(model.classifier, np.concatenate(pooled), 1)


def test_logits_are_those_of_the_equations() -> None:
    built = TASK.build()
    # Weights large enough for the attention to be far from uniform.
    model = built.model.double()
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.mul_(3)
    tensors = built.tensors(built.instances, premise=16, hypothesis=11)

    with torch.no_grad():
        output = model(**tensors)
        texts = model.text_embedder(tensors["premise"], tensors["hypothesis"])

    for row in range(len(built.instances)):
        lengths = [int(text.mask[row].sum()) for text in texts]
        expected = logits_in_numpy(
            model,
            [text.x[row, :length].numpy() for text, length in zip(texts, lengths)],
            [text.elmo[row, :length].numpy() for text, length in zip(texts, lengths)],
        )
        np.testing.assert_allclose(output["logits"][row].numpy(), expected, atol=1e-9)


def test_attention_gives_padding_nothing_where_all_scores_are_far_below_zero() -> None:
    scores = torch.tensor([[[-1000.0, -1001.0, 0.0]]])

    attention = _softmax_over(scores, torch.tensor([[True, True, False]]))

    expected = torch.softmax(torch.tensor([1.0, 0.0]), dim=0)
    assert torch.allclose(attention[0, 0], torch.cat([expected, torch.zeros(1)]))


def test_maximum_ignores_padding_where_all_values_are_negative() -> None:
    model = TASK.build().model.double()
    width = 4 * 8
    found = a = torch.rand(2, 5, model.projection.get_input_dim() // 4, dtype=torch.double)
    mask = torch.tensor([[True] * 3 + [False] * 2, [True] * 5])

    with torch.no_grad():
        for name, parameter in model.composer.named_parameters():
            # An LSTM whose candidates are all negative has negative cells.
            parameter.zero_()
            if "bias_ih" in name:
                parameter[16:24] = -torch.arange(1.0, 9.0)
        (padded,) = model._compose([a], [found], [mask])
        (alone,) = model._compose([a[:1, :3]], [found[:1, :3]], [mask[:1, :3]])

    assert (padded < 0).all()
    assert padded.shape == (2, width)
    torch.testing.assert_close(padded[:1], alone)


@pytest.mark.parametrize(
    ("before", "after"), [("text_embedder", "encoder"), ("projection", "composer")]
)
def test_dropout_before_a_bilstm_is_the_same_for_all_tokens(before: str, after: str) -> None:
    built = TASK.build()
    model = built.model.train()
    # The texts before and after the dropout; shape of each: (batch, length, width).
    whole: list[torch.Tensor] = []
    dropped: list[torch.Tensor] = []
    getattr(model, before).register_forward_hook(
        lambda _, __, output: whole.extend(
            [text.x for text in output] if before == "text_embedder" else [output]
        )
    )
    # Both texts are read in one batch, padded to the same length.
    getattr(model, after).register_forward_pre_hook(
        lambda _, inputs: dropped.extend(inputs[0].chunk(2))
    )

    model(**built.tensors(built.instances))

    assert len(whole) == len(dropped) == 2
    for x, y in zip(whole, dropped):
        # 0 where a feature was dropped and 2 where it was not; -1 where it is 0 before the dropout.
        scale = (y[:, : x.size(1)] / x).nan_to_num(nan=-1)
        most = scale.max(dim=1, keepdim=True).values
        assert set(most.unique().tolist()) >= {0, 2}
        assert ((scale == -1) | (scale == most)).all()


def test_attention_dropout_falls_on_the_enhancement_in_training() -> None:
    built = TASK.build("{ attention_dropout:: 0.5 }")
    inputs: list[torch.Tensor] = []
    built.model.projection.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    zeros = []

    for training in (False, True):
        inputs.clear()
        built.model.train(training)(**built.tensors(built.instances[:1]))
        zeros.append((inputs[0] == 0).float().mean().item())

    assert zeros[0] < 0.01
    # The dropout of ELMo_k makes more zeros, in both factors of a product.
    assert zeros[1] > 0.4

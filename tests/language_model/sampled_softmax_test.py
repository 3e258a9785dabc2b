import math

import numpy
import pytest
import torch
from allennlp.modules.sampled_softmax_loss import SampledSoftmaxLoss
from torch.nn.functional import cross_entropy, linear

from elmo_tasks.language_model import sampled_softmax
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax

NUM_CLASSES, DIM = 50, 8


def make_softmax(num_samples: int | None = 20) -> SampledSoftmax:
    torch.manual_seed(0)
    softmax = SampledSoftmax(NUM_CLASSES + 1, DIM, num_samples)
    torch.nn.init.normal_(softmax.bias)
    return softmax


def make_batch(num_tokens: int = 30) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns inputs and the word ids to predict; frequent words are more likely."""
    torch.manual_seed(1)
    words = (NUM_CLASSES * torch.rand(num_tokens) ** 2).long() + 1
    return torch.randn(num_tokens, DIM), words


def upstream(softmax: SampledSoftmax, num_samples: int = 20) -> SampledSoftmaxLoss:
    theirs = SampledSoftmaxLoss(NUM_CLASSES, DIM, num_samples)
    theirs.softmax_w.data = softmax.weight.data.clone()
    theirs.softmax_b.data = softmax.bias.data.squeeze(1).clone()
    return theirs


def full_losses(softmax: SampledSoftmax, h: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    logits = linear(h, softmax.weight, softmax.bias.squeeze(1)).float()
    return cross_entropy(logits, words - 1, reduction="none")


def probabilities() -> numpy.ndarray:
    """Returns the probability of each class in a log-uniform draw."""
    classes = numpy.arange(NUM_CLASSES)
    return numpy.log((classes + 2) / (classes + 1)) / math.log(NUM_CLASSES + 1)


def gradients(softmax: SampledSoftmax, loss: torch.Tensor) -> list[torch.Tensor]:
    softmax.zero_grad()
    loss.backward()
    parts = [parameter.grad for parameter in softmax.parameters() if parameter.grad is not None]
    return [part.to_dense() if part.is_sparse else part for part in parts]


def test_at_evaluation_or_without_samples_the_full_softmax_equals_allennlps() -> None:
    h, words = make_batch()

    for softmax in (make_softmax().eval(), make_softmax(None).train()):
        losses = softmax(h, words)

        assert losses.shape == words.shape
        torch.testing.assert_close(losses.sum(), upstream(softmax).eval()(h, words - 1))


@pytest.mark.parametrize("at_a_time", [1, 7 * NUM_CLASSES, 1 << 21])
def test_the_full_softmax_in_parts_is_cross_entropy_with_its_gradients(
    at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    softmax, (h, words) = make_softmax().eval(), make_batch()
    inputs = [h.requires_grad_(), *softmax.parameters()]
    expected = full_losses(softmax, h, words)
    weights = torch.rand(len(words))
    monkeypatch.setattr(sampled_softmax, "_LOGITS_AT_A_TIME", at_a_time)

    losses = softmax(h, words)

    torch.testing.assert_close(losses, expected)
    theirs = torch.autograd.grad((weights * expected).sum(), inputs)
    for gradient, other in zip(torch.autograd.grad((weights * losses).sum(), inputs), theirs):
        torch.testing.assert_close(gradient, other)


def test_the_full_softmax_rounds_its_logits_alike_in_bfloat16() -> None:
    softmax, (h, words) = make_softmax(None), make_batch()
    # The target's logit is nearly all of the sum.
    h = 20 * softmax.weight.detach()[words - 1]

    with torch.autocast("cpu", torch.bfloat16):
        losses = softmax(h, words)
        expected = full_losses(softmax, h, words)

    assert losses.min() >= 0
    torch.testing.assert_close(losses, expected)


def test_the_sampled_softmax_equals_allennlps_over_the_same_sample() -> None:
    softmax, (h, words) = make_softmax().train(), make_batch()
    theirs = upstream(softmax).train()
    samples, num_draws = softmax._draw(20)
    # Some of the words to predict are drawn as samples too.
    assert set((words - 1).tolist()) & set(samples.tolist())
    theirs.choice_func = lambda *_: (samples.numpy(), num_draws)

    losses = softmax._sampled_loss(h, words - 1, samples, num_draws)
    expected = theirs(h, words - 1)
    ours = gradients(softmax, losses.sum())
    expected.backward()

    torch.testing.assert_close(losses.sum(), expected)
    torch.testing.assert_close(ours[0], theirs.softmax_w.grad)
    torch.testing.assert_close(ours[1].squeeze(1), theirs.softmax_b.grad)


def test_a_sample_is_the_first_distinct_draws() -> None:
    softmax = make_softmax()
    torch.manual_seed(3)
    samples, num_draws = softmax._draw(20)

    torch.manual_seed(3)
    uniform = torch.rand(4 * 20, dtype=torch.float64).tolist()
    drawn = [int(math.exp(x * math.log(NUM_CLASSES + 1))) - 1 for x in uniform]
    distinct = list(dict.fromkeys(drawn[:num_draws]))
    assert len(distinct) == 20 and len(set(drawn[: num_draws - 1])) == 19
    assert samples.tolist() == distinct


@pytest.mark.parametrize("num_samples", [1, 10, NUM_CLASSES - 1])
def test_classes_are_drawn_as_often_as_is_expected(num_samples: int) -> None:
    softmax = make_softmax()
    torch.manual_seed(0)
    times = 3000 if num_samples < 20 else 300
    drawn, expected = torch.zeros(NUM_CLASSES), torch.zeros(NUM_CLASSES)
    for _ in range(times):
        samples, num_draws = softmax._draw(num_samples)
        assert len(samples) == len(samples.unique()) == num_samples
        drawn[samples] += 1
        expected += softmax._expected_count(torch.arange(NUM_CLASSES), num_draws)
    drawn, expected = drawn / times, expected / times

    if num_samples == 1:
        torch.testing.assert_close(expected, torch.tensor(probabilities()).float())
    # The bound is four standard errors, and 0.02 because the number of draws is itself random.
    error = 4 * (expected * (1 - expected) / times).clamp(min=0).sqrt() + 0.02
    assert ((drawn - expected).abs() < error).all()


def test_rows_that_are_not_used_get_no_gradient_and_the_norm_is_that_of_the_rest() -> None:
    softmax, (h, words) = make_softmax().train(), make_batch(60)
    samples, num_draws = softmax._draw(20)
    softmax._sampled_loss(h, words - 1, samples, num_draws).mean().backward()

    used = sorted({*samples.tolist(), *(words - 1).tolist()})
    dense = []
    for parameter in softmax.parameters():
        assert parameter.grad is not None and parameter.grad.is_sparse
        assert parameter.grad.coalesce().indices()[0].tolist() == used
        dense.append(parameter.grad.to_dense())
    norm = torch.nn.utils.clip_grad_norm_(softmax.parameters(), 0.1)
    assert norm.item() == pytest.approx(math.sqrt(sum((part**2).sum() for part in dense)))
    assert softmax.weight.grad is not None
    torch.testing.assert_close(softmax.weight.grad.to_dense(), dense[0] * 0.1 / norm)


@pytest.mark.parametrize("num_samples", [NUM_CLASSES, 8192])
def test_more_samples_than_words_mean_the_full_softmax(num_samples: int) -> None:
    softmax, (h, words) = make_softmax(num_samples), make_batch()

    torch.testing.assert_close(softmax.train()(h, words), softmax.eval()(h, words))


def test_a_new_softmax_is_drawn_as_bilm_tfs() -> None:
    torch.manual_seed(0)
    softmax = SampledSoftmax(5001, 64)

    assert softmax.weight.std().item() == pytest.approx(1 / 8, rel=0.01)
    assert not softmax.bias.any()

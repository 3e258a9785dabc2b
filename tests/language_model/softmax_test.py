import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.softmax import UNKNOWN_CLASS, LeftOut, Softmax
from tests.helpers.language_models import bounded, random_softmax


@pytest.fixture
def h() -> torch.Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(3))


def probabilities(softmax: Softmax, h: torch.Tensor) -> torch.Tensor:
    return (h.double() @ softmax.weight.double().T + softmax.bias.double()).softmax(dim=1)


def test_log_probabilities_are_those_of_a_softmax_and_sum_to_one(h: torch.Tensor) -> None:
    softmax = random_softmax(4)
    classes = torch.arange(6)

    found = softmax.log_probs(h, classes)

    expected = probabilities(softmax, h)
    torch.testing.assert_close(
        found.double().exp(), expected[classes, classes], rtol=1e-5, atol=1e-6
    )
    distribution = softmax.distribution(h).double().exp()
    torch.testing.assert_close(distribution, expected, rtol=1e-5, atol=1e-6)
    assert distribution.sum(dim=1).tolist() == pytest.approx([1.0] * 6)


def test_words_that_are_left_out_give_the_unknown_class_their_probability(h: torch.Tensor) -> None:
    softmax = random_softmax(4)
    fewer = bounded(softmax, 6)

    found = fewer.distribution(h).double().exp()

    whole = probabilities(softmax, h)
    expected = torch.cat([whole[:, :1] + whole[:, 7:].sum(1, True), whole[:, 1:7]], dim=1)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    classes = torch.tensor([UNKNOWN_CLASS, 1, 6, UNKNOWN_CLASS, 2, 3])
    of_classes = fewer.log_probs(h, classes).double().exp()
    torch.testing.assert_close(of_classes, expected[range(6), classes], rtol=1e-5, atol=1e-6)
    assert fewer.classes(["the", "house", "<S>"]) == [4, UNKNOWN_CLASS, 2]
    assert fewer.knows("the") and not fewer.knows("house")


def test_what_stands_for_many_words_is_exact_for_normal_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    weight = 0.3 * torch.randn(20_000, 4, generator=generator)
    bias = torch.rand(20_000, generator=generator)
    h = torch.randn(50, 4, generator=generator)

    found = LeftOut.of(weight, bias).log_sums(h)

    torch.testing.assert_close(found, (h @ weight.T + bias).logsumexp(dim=1), rtol=0, atol=0.02)


def test_8_bits_are_near_float32_with_all_words_and_with_fewer(h: torch.Tensor) -> None:
    softmax = random_softmax(4)

    for max_words, atol in ((None, 0.05), (100, 0.05), (14, 0.05)):
        found = softmax.in_8_bits(max_words)
        assert found.weight.dtype == torch.int8
        # A row's largest number is exact.
        assert (found.weight.abs().amax(dim=1) == 127).all()
        exact = softmax if max_words is None or max_words > 15 else bounded(softmax, max_words)
        assert found.words == exact.words
        expected = exact.distribution(h)
        torch.testing.assert_close(found.distribution(h), expected, rtol=0, atol=atol)


@pytest.mark.parametrize("max_words", [0, -1])
def test_a_softmax_has_a_word(max_words: int) -> None:
    with pytest.raises(ConfigurationError, match=f"max_words must be 1 or more, not {max_words}"):
        random_softmax(4).in_8_bits(max_words)


def test_a_row_of_zeros_has_8_bits() -> None:
    softmax = Softmax(["@@UNKNOWN@@", "a"], torch.zeros(2, 3), torch.tensor([0.0, 1.0]))

    found = softmax.in_8_bits().distribution(torch.ones(1, 3))

    torch.testing.assert_close(found, torch.tensor([[0.0, 1.0]]).log_softmax(dim=1))

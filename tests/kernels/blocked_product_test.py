import pytest
import torch

from elmo_tasks.kernels import blocked_product
from elmo_tasks.kernels.blocked_product import BlockedProduct, scaled


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("divides", [True, False])
@pytest.mark.parametrize("num_rows", [0, 1, 7, 600])
def test_logits_and_their_log_sums_are_those_of_one_product(
    monkeypatch: pytest.MonkeyPatch, num_rows: int, divides: bool, compiled: bool
) -> None:
    monkeypatch.setattr("elmo_tasks.common.threads._divides", divides)
    if not compiled:
        monkeypatch.setattr(blocked_product, "kernels", lambda *_: None)
    generator = torch.Generator().manual_seed(0)
    x, weight, bias = (
        torch.randn(shape, generator=generator) for shape in ((num_rows, 16), (2500, 16), (2500,))
    )
    product = BlockedProduct(weight, bias)

    logits, log_sums = product.logits(x), product.log_sums(x)

    expected = x.double() @ weight.double().T + bias.double()
    torch.testing.assert_close(logits.double(), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(log_sums.double(), expected.logsumexp(1), rtol=1e-6, atol=1e-5)


def test_logits_of_any_size_have_finite_log_sums() -> None:
    weight = torch.tensor([[1.0], [-1.0], [0.5]])

    found = BlockedProduct(weight, torch.zeros(3)).log_sums(torch.tensor([[500.0], [-2e4]]))

    assert found.tolist() == pytest.approx([500, 2e4])


def test_each_row_of_8_bits_has_its_scale() -> None:
    weight = torch.tensor([[2, -3], [100, 127]], dtype=torch.int8)
    scale, bias, x = torch.tensor([0.5, 0.01]), torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 2.0]])

    found = BlockedProduct(weight, bias, scale).logits(x)

    assert scaled(weight, scale).tolist() == [[1, -1.5], [1, pytest.approx(1.27)]]
    assert found.tolist() == [pytest.approx([1 + 1 - 3, 2 + 1 + 2.54])]

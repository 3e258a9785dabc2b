import pytest
import torch

from benchmarks.pretraining import Product, by_torch, prepare, products_of
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.common.characters import batch_char_ids
from tests.helpers.reference_bilm import make_options


def test_the_products_are_those_of_a_step() -> None:
    options = BiLmOptions.from_dict(make_options(filters=[[1, 4], [2, 8]], n_highway=1))
    sentences = [["<S>", "a", "goat", "a", "</S>"], ["<S>", "a", "</S>"]]
    char_ids = batch_char_ids(sentences)

    products = products_of(options, char_ids, num_classes=5)

    # The characters of the four distinct tokens and of the boundaries of each, and one window more.
    windows = 3 * (3 + 1) + (6 + 1)
    char_dim, filters, p, c = 4, 12, 6, 9
    cnn = [Product([windows], char_dim, 4), Product([windows], 2 * char_dim, 8)]
    linear = [Product([4], filters, 2 * filters), Product([4], filters, p)]
    steps = [2, 2, 1, 1]
    lstm = [Product([6], p, 4 * c), Product(steps, p, 4 * c), Product(steps, c, p)]
    direction = [*lstm, *lstm, Product([6], p, 5)]
    assert products == [*cnn, *linear, *direction, *direction]


def test_each_product_is_done_forward_and_twice_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    mm, flops = torch.mm, []

    def counted(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        flops.append(one.size(0) * one.size(1) * other.size(1))
        return mm(one, other)

    monkeypatch.setattr(torch, "mm", counted)
    prepare([Product([3, 2], 5, 7)], torch.float32, by_torch)()

    assert flops == [3 * 5 * 7, 2 * 5 * 7] * 2 + [5 * 5 * 7]

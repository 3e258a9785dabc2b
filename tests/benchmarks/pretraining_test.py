import sys
from collections import Counter

import pytest
import torch

from benchmarks.pretraining import Product, build, main, prepare, record
from elmo_tasks.readers.char_id_table import CharIdTable
from tests.language_models import shrunk
from tests.models.language_model_test import make_vocab


def test_a_row_for_each_size_and_precision_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    arguments = ["--quick", "--sizes", "mini", "--dtypes", "bfloat16", "--words", "3000"]
    monkeypatch.setattr(sys, "argv", ["pretraining.py", *arguments, "--threads", "1"])

    main()

    heading, _, titles, _, row = capsys.readouterr().out.splitlines()
    assert "1 threads" in heading and "3,000 words" in heading
    assert titles.count("|") == row.count("|") and row.startswith("| mini | bfloat16 | ")


def test_the_products_are_those_of_a_step() -> None:
    """Of a character CNN of two widths, a highway and two LSTMs of each direction, by hand."""
    vocab = make_vocab()
    model = build(shrunk("small", "{ num_samples: 5 }")["model"], vocab, "float32")
    sentences = [["<S>", "a", "goat", "a", "</S>"], ["<S>", "a", "</S>"]]

    products, num_tokens = record(model, {"tokens": CharIdTable(vocab).tensors(sentences)})

    # Four distinct tokens; windows are as many as tell them apart.
    char_dim, filters, wide, p, c = 16, 12, 4 * 8, 4, 8
    assert num_tokens == 6
    assert Counter(product.inner for product in products[:2]) == {char_dim: 1, 2 * char_dim: 1}
    lstm = [Product([6], p, wide), Product([2, 2, 1, 1], p, wide), Product([2, 2, 1, 1], c, p)]
    linear = [Product([4], filters, 2 * filters), Product([4], filters, p)]
    assert products[-16:] == linear + 4 * lstm + 2 * [Product([6], p, 5)]


def test_each_product_is_done_forward_and_twice_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    mm, flops = torch.mm, []

    def counted(one: torch.Tensor, other: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        flops.append(one.size(0) * one.size(1) * other.size(1))
        return mm(one, other, out=out)

    monkeypatch.setattr(torch, "mm", counted)
    prepare([Product([3, 2], 5, 7)], torch.float32, "cpu")()

    assert flops == [3 * 5 * 7, 2 * 5 * 7] * 2 + [5 * 5 * 7]

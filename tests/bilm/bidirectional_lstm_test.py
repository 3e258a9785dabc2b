from pathlib import Path

import numpy
import pytest
import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.bidirectional_lstm import DistinctVectors, bidirectional_layers
from elmo_tasks.bilm.state import LstmState
from tests.helpers.bilm_examples import SHAPES
from tests.helpers.reference_bilm import ReferenceBiLm, State, random_files

LENGTHS = torch.tensor([2, 5, 0, 5])
# The longest sentence has 5 tokens; the output has one more, which is padding.
MAX_LENGTH = 6
WIDTH = MAX_LENGTH + 2


class Example:
    """A random biLM, its reference, random token vectors, and a random start state of each row."""

    def __init__(self, folder: Path, shape: dict) -> None:
        files = random_files(folder, **shape)
        self.bilm, self.reference = make_bilm(*files, state="reset"), ReferenceBiLm(*files)
        options = self.bilm.options
        torch.manual_seed(0)
        self.stacks = (self.bilm.forward_stack, self.bilm.backward_stack)
        distinct = torch.randn(7, options.projection_dim)
        rows = torch.randint(7, (len(LENGTHS) * WIDTH,))
        self.tokens = DistinctVectors(distinct, rows)
        size = (options.num_layers, 2, len(LENGTHS))
        self.start = LstmState(
            torch.rand(*size, options.projection_dim) - 0.5, torch.rand(*size, options.cell_dim)
        )
        self.last = LstmState(*(torch.zeros_like(part) for part in self.start))

    def inputs(self, row: int) -> numpy.ndarray:
        """Returns x^LM of a sentence with its boundaries, shape (length + 2, projection_dim)."""
        index = row * WIDTH + torch.arange(LENGTHS[row] + 2)
        return self.tokens.at(index).double().numpy()

    def start_of(self, row: int) -> State:
        """Returns the start state of a row as the reference takes it."""
        h, c = (part[:, :, row].double().numpy() for part in self.start)
        return [list(zip(h[:, direction], c[:, direction])) for direction in range(2)]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_layers_and_last_states_equal_a_plain_numpy_bilm(tmp_path: Path, shape: dict) -> None:
    example = Example(tmp_path, shape)

    with torch.no_grad():
        layers = bidirectional_layers(
            example.stacks, example.tokens, LENGTHS, MAX_LENGTH, example.start, example.last
        )

    for row, length in enumerate(LENGTHS.tolist()):
        x, start = example.inputs(row), example.start_of(row)
        forward, forward_end = example.reference._stack(0, x, start[0])
        backward, backward_end = example.reference._stack(1, x[::-1], start[1])
        expected = numpy.concatenate([forward, backward[:, ::-1]], axis=-1)[:, 1:-1]
        numpy.testing.assert_allclose(layers[row, :, :length], expected, atol=1e-5)
        assert not layers[row, :, length:].any()
        for direction, end in enumerate((forward_end, backward_end)):
            for j, (h, c) in enumerate(end):
                numpy.testing.assert_allclose(example.last.h[j, direction, row], h, atol=1e-5)
                numpy.testing.assert_allclose(example.last.c[j, direction, row], c, atol=1e-5)

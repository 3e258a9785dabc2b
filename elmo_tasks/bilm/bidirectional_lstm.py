from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch.nn.functional import embedding

from elmo_tasks.bilm.projected_lstm import LstmStack
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.common.tensors import distinct_rows
from elmo_tasks.kernels.packing import Packing
from elmo_tasks.kernels.threads import for_each


class DistinctVectors(NamedTuple):
    """
    Holds x^LM of the distinct tokens of a batch, in `vectors` of shape (distinct tokens,
    projection_dim). `rows` has, for each token of the flattened batch, its row in `vectors`.
    """

    vectors: torch.Tensor
    rows: torch.Tensor

    @classmethod
    def of(
        cls, char_ids: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
    ) -> "DistinctVectors":
        """
        Calls `compute` once, with the distinct tokens of char ids of shape (batch, length, 50).
        """
        distinct, rows = distinct_rows(char_ids.flatten(0, 1))
        return cls(compute(distinct), rows)

    def at(self, index: torch.Tensor) -> torch.Tensor:
        return embedding(self.rows[index], self.vectors)


def bidirectional_layers(
    stacks: Sequence[LstmStack],
    tokens: DistinctVectors,
    lengths: torch.Tensor,
    max_length: int,
    start: LstmState,
    last: LstmState,
    at_once: bool = False,
    boundaries: bool = False,
) -> torch.Tensor:
    """
    Runs the LSTMs of both directions over sentences with their boundaries.

    # Parameters

    tokens: x^LM of each sentence and its two boundaries, padded to length `max_length + 2`.
    lengths (`torch.LongTensor`): Shape (batch,): the number of tokens without the boundaries.
    start: The state that each row starts from: `h` and `c` of shapes (num_layers, 2, batch,
        projection_dim) and (num_layers, 2, batch, cell_dim).
    last: Is filled with the state after the last step of each row, in the shapes of `start`.
    at_once: Whether the two directions run on two threads. No gradient may be needed then.
    boundaries: Whether the output includes the boundaries of sentences.

    # Returns

    Shape (batch, num_layers + 1, max_length, 2 * projection_dim), zeros at padding. With
    boundaries, the length is `max_length + 2`. Layer 0 is [x^LM; x^LM].
    """
    width = max_length + 2
    packing = Packing.of(lengths + 2, width)
    dim = tokens.vectors.size(1)
    first = 0 if boundaries else 1
    # Positions from here on are not returned; 0 for a row of padding. Shape: (batch,)
    ends = (lengths + 2 - first) * (lengths > 0)
    shape = (len(lengths), len(stacks[0].layers) + 1, width - 2 * first, 2 * dim)
    layers = tokens.vectors.new_zeros(shape)

    def read(d: int) -> None:
        index = (packing.forward_index, packing.backward_index)[d]
        outputs = read_direction(stacks, d, tokens.at(index), packing, start, last)
        rows, positions = index // width, index % width
        inside = (positions >= first) & (positions < ends[rows])
        rows, positions = rows[inside], positions[inside] - first
        columns = slice(d * dim, (d + 1) * dim)
        for j, output in enumerate(outputs):
            layers[rows, j, positions, columns] = output[inside]

    for_each(read, (0, 1), at_once)
    return layers


def read_direction(
    stacks: Sequence[LstmStack],
    direction: int,
    inputs: torch.Tensor,
    packing: Packing,
    start: LstmState,
    last: LstmState,
) -> list[torch.Tensor]:
    """
    Runs the LSTMs of one direction (0 is forward, 1 is backward) over packed tokens. Returns the
    inputs and the output of each layer, of shape (tokens, projection_dim).
    """
    before = LstmState(*(part[:, direction, packing.rows] for part in start))
    outputs, after = stacks[direction](inputs, packing.batch_sizes, before)
    for part, end in zip(last, after):
        part[:, direction, packing.rows] = end
    return [inputs, *outputs]

from itertools import accumulate

import torch

from elmo_tasks.kernels.packing import Packing
from elmo_tasks.kernels.trained_product import STEP_ROWS, trained_product


class Steps:
    """
    The steps of a packed batch (see `Packing`).

    # Parameters

    sizes: The number of rows that have a token, for each step. It never grows from step to step.
    """

    def __init__(self, sizes: list[int]) -> None:
        stops = list(accumulate(sizes))
        # The packed tokens that each step reads.
        self.slices = [slice(stop - size, stop) for size, stop in zip(sizes, stops)]
        # Each slice, extended over the tokens behind it to a multiple of `STEP_ROWS`.
        self.windows = [
            slice(step.start, step.start + _rounded(size)) for size, step in zip(sizes, self.slices)
        ]
        self.num_rows = _rounded(max(sizes, default=0))
        self.num_tokens = sum(sizes)

    def empty(self, like: torch.Tensor, *dims: int) -> torch.Tensor:
        """Returns a new tensor of shape `(tokens + 15, *dims)`, long enough for the last window."""
        return like.new_empty(self.num_tokens + STEP_ROWS - 1, *dims)

    def before(self, states: torch.Tensor) -> torch.Tensor:
        """
        Returns the state before each token, shape (tokens, dim), given the states after each token.
        """
        parts = [torch.zeros_like(states[step]) for step in self.slices[:1]]
        for before, step in zip(self.slices, self.slices[1:]):
            parts.append(states[before.start : before.start + step.stop - step.start])
        return torch.cat(parts) if parts else states


def run_both_directions(
    module: torch.nn.RNNBase,
    recurrence: type[torch.autograd.Function],
    inputs: torch.Tensor,
    mask: torch.Tensor,
) -> torch.Tensor:
    """
    Runs a bidirectional LSTM or GRU of one layer, and skips padding.

    # Parameters

    module: Has the weights.
    recurrence: Computes the states of one direction. Takes its input products, recurrent weight,
        bias and `Steps`.
    inputs: Shape (batch, length, input_size).
    mask (`torch.BoolTensor`): Shape (batch, length); padding is at the end.

    # Returns

    Shape (batch, length, 2 * hidden_size), zeros at padding.
    """
    batch, length = mask.shape
    packing = Packing.of(mask.sum(dim=1), length)
    # Shape: (tokens, input_size), packed in the order of the forward direction
    x = inputs.flatten(0, 1).index_select(0, packing.forward_index)
    mirror = mirror_of(packing, batch * length)
    both = []
    for suffix in ("", "_reverse"):
        input_weight, input_bias, weight, bias = (
            getattr(module, f"{name}_l0{suffix}")
            for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
        )
        gates = trained_product(x, input_weight, input_bias)
        if suffix:
            gates = gates.index_select(0, mirror)
        h = recurrence.apply(gates, weight, bias, Steps(packing.batch_sizes))
        both.append(h.index_select(0, mirror) if suffix else h)
    # Shape: (tokens, 2 * hidden_size)
    h = torch.cat(both, dim=-1)
    flat = h.new_zeros(batch * length, h.size(1)).index_copy(0, packing.forward_index, h)
    return flat.unflatten(0, (batch, length))


def mirror_of(packing: Packing, num_positions: int) -> torch.Tensor:
    """
    Returns for each token of the backward order its index in the forward order: shape (tokens,).
    Reordering tokens twice by these indices changes nothing.
    """
    index = packing.forward_index.new_empty(num_positions)
    index[packing.forward_index] = torch.arange(len(packing.forward_index), device=index.device)
    return index[packing.backward_index]


def _rounded(size: int) -> int:
    return -(-size // STEP_ROWS) * STEP_ROWS

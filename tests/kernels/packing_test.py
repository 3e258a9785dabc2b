import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence

from elmo_tasks.kernels.packing import Packing

all_lengths = st.lists(st.integers(0, 7), min_size=1, max_size=6)


def pack_of_torch(padded: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, list[int]]:
    """Returns tokens and batch sizes as PyTorch packs them. PyTorch refuses empty rows."""
    order = torch.sort(lengths, descending=True, stable=True).indices
    order = order[lengths[order] > 0]
    if len(order) == 0:
        return padded.new_zeros(0), []
    packed = pack_padded_sequence(padded[order], lengths[order], batch_first=True)
    return packed.data, packed.batch_sizes.tolist()


def reversed_rows(padded: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    rows = [
        torch.cat([row[:length].flip(0), row[length:]])
        for row, length in zip(padded, lengths.tolist(), strict=True)
    ]
    return torch.stack(rows)


@given(num_tokens=all_lengths, more_padding=st.none() | st.integers(0, 3))
def test_the_order_is_that_of_torchs_packed_sequence(
    num_tokens: list[int], more_padding: int | None
) -> None:
    lengths = torch.tensor(num_tokens)
    width = max(num_tokens) + (more_padding or 0)
    padded = torch.arange(len(num_tokens) * width).reshape(len(num_tokens), width)

    packing = Packing.of(lengths, None if more_padding is None else width)

    data, batch_sizes = pack_of_torch(padded, lengths)
    assert packing.batch_sizes == batch_sizes
    assert torch.equal(padded.flatten()[packing.forward_index], data)
    data, _ = pack_of_torch(reversed_rows(padded, lengths), lengths)
    assert torch.equal(padded.flatten()[packing.backward_index], data)


@given(num_tokens=all_lengths)
def test_rows_are_in_the_order_of_their_lengths(num_tokens: list[int]) -> None:
    rows = Packing.of(torch.tensor(num_tokens)).rows.tolist()

    assert rows == sorted(range(len(num_tokens)), key=lambda row: -num_tokens[row])


@pytest.mark.parametrize("width", [None, 0, 3])
@pytest.mark.parametrize("num_rows", [0, 2])
def test_a_batch_without_tokens_has_no_steps(num_rows: int, width: int | None) -> None:
    packing = Packing.of(torch.zeros(num_rows, dtype=torch.long), width)

    assert packing.rows.tolist() == list(range(num_rows))
    assert packing.batch_sizes == []
    assert len(packing.forward_index) == len(packing.backward_index) == 0

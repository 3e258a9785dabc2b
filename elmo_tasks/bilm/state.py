from collections.abc import Callable
from typing import NamedTuple

import torch

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.common.characters import batch_char_ids

# The start state `snapshot` is the state of the LSTMs after they have read this text several times,
# which is enough to forget the zeros that they began with.
_TEXT = "The quick brown fox jumps over the lazy dog .".split()
_PASSES = 5


class LstmState(NamedTuple):
    """
    The state that LSTM layers carry from step to step.

    # Parameters

    h: Shape (..., rows, projection_dim): the clipped output, without the skip connection.
    c: Shape (..., rows, cell_dim): the clipped cell state.
    """

    h: torch.Tensor
    c: torch.Tensor


class InitialState(torch.nn.Module):
    """
    Gives the state that the LSTMs of both directions start from. This class is for the setting
    `reset`: all states are zeros, as in a biLM that was trained sentence by sentence. The classes
    for `snapshot` and `carry` extend it.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
        self.h_shape = (options.num_layers, 2, options.projection_dim)
        self.c_shape = (options.num_layers, 2, options.cell_dim)

    def zeros(self, num_rows: int, like: torch.Tensor) -> LstmState:
        """Returns zeros of shapes (num_layers, 2, rows, projection_dim) and (..., cell_dim)."""
        return LstmState(
            like.new_zeros(*self.h_shape[:2], num_rows, self.h_shape[2]),
            like.new_zeros(*self.c_shape[:2], num_rows, self.c_shape[2]),
        )

    def before(self, num_rows: int, like: torch.Tensor) -> LstmState:
        """Returns the start state of `num_rows` rows, on the device and in the dtype of `like`."""
        return self.zeros(num_rows, like)

    def after(self, state: LstmState) -> None:
        """Is called with the state in which the rows of a batch ended."""

    def take(
        self,
        run: Callable[[torch.Tensor, LstmState], LstmState],
        like: torch.Tensor,
        max_characters: int,
    ) -> None:
        """
        Computes the start state, if it depends on the weights. `run` reads char ids with the biLM
        from a given state, and returns the state at the end.
        """


class SnapshotState(InitialState):
    """
    Starts every row of every call from one fixed state, the state of the biLM after a fixed text
    (`snapshot`). A snapshot suits weights that were trained with the state carried from sentence to
    sentence. The snapshot is saved with the weights.
    """

    h: torch.Tensor
    c: torch.Tensor

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__(options)
        self.register_buffer("h", torch.zeros(self.h_shape))
        self.register_buffer("c", torch.zeros(self.c_shape))

    def before(self, num_rows: int, like: torch.Tensor) -> LstmState:
        h, c = (
            part.to(like).unsqueeze(2).expand(-1, -1, num_rows, -1) for part in (self.h, self.c)
        )
        return LstmState(h, c)

    def take(
        self,
        run: Callable[[torch.Tensor, LstmState], LstmState],
        like: torch.Tensor,
        max_characters: int,
    ) -> None:
        text = batch_char_ids([_TEXT], max_characters).to(like.device)
        state = self.zeros(1, like)
        with torch.no_grad(), torch.autocast(like.device.type, enabled=False):
            for _ in range(_PASSES):
                state = run(text, state)
        self.h.copy_(state.h[:, :, 0])
        self.c.copy_(state.c[:, :, 0])


class CarryState(InitialState):
    """
    Starts each row of a batch from the state in which this row of the previous batch ended
    (`carry`), as AllenNLP's ELMo does. So vectors depend on the order of batches. A row that no
    earlier batch had starts from zeros. A smaller batch leaves the states of the remaining rows as
    they are.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__(options)
        self._last: LstmState | None = None

    def reset(self) -> None:
        """Forgets the carried state."""
        self._last = None

    def before(self, num_rows: int, like: torch.Tensor) -> LstmState:
        start = self.zeros(num_rows, like)
        if self._last is not None:
            for part, last in zip(start, self._last):
                num_shared = min(num_rows, last.size(2))
                part[:, :, :num_shared] = last[:, :, :num_shared].to(like)
        return start

    def after(self, state: LstmState) -> None:
        num_rows = state.h.size(2)
        if self._last is not None and self._last.h.size(2) > num_rows:
            h, c = (
                torch.cat([part, last[:, :, num_rows:].to(part)], dim=2)
                for part, last in zip(state, self._last)
            )
            state = LstmState(h, c)
        self._last = LstmState(state.h.detach(), state.c.detach())


INITIAL_STATES = {"reset": InitialState, "snapshot": SnapshotState, "carry": CarryState}

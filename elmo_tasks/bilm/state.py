import torch

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.recurrence import LstmState


class InitialState(torch.nn.Module):
    """
    What the LSTMs of both directions start from: zeros. The base of the other two, and itself the
    state `reset`, for a biLM trained sentence by sentence.

    # Parameters

    options : `BiLmOptions`
        Layers and widths.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
        self.h_shape = (options.num_layers, 2, options.projection_dim)
        self.c_shape = (options.num_layers, 2, options.cell_dim)

    def zeros(self, num_rows: int, like: torch.Tensor) -> LstmState:
        """Shapes (num_layers, 2, rows, projection_dim) and (num_layers, 2, rows, cell_dim)."""
        return LstmState(
            like.new_zeros(*self.h_shape[:2], num_rows, self.h_shape[2]),
            like.new_zeros(*self.c_shape[:2], num_rows, self.c_shape[2]),
        )

    def before(self, num_rows: int, like: torch.Tensor) -> LstmState:
        """The state that `num_rows` rows start from, on the device and in the dtype of `like`."""
        return self.zeros(num_rows, like)

    def after(self, state: LstmState) -> None:
        """Told the state in which the rows ended."""


class SnapshotState(InitialState):
    """
    The state `snapshot`, for weights trained with state carried from sentence to sentence: every
    row of every call starts from one state, the one to which the biLM settles on a fixed text. It
    is saved with the weights.
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

    def keep(self, state: LstmState) -> None:
        """Makes the state after the first row of a batch the one to start from."""
        self.h.copy_(state.h[:, :, 0])
        self.c.copy_(state.c[:, :, 0])


class CarryState(InitialState):
    """
    The state `carry`, upstream's behaviour: a row starts where the same row of the call before
    ended, so that vectors depend on the order of batches. A batch with more rows has zeros for the
    new ones; the rows of a smaller batch are the first.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__(options)
        self._last: LstmState | None = None

    def reset(self) -> None:
        """Forgets what was carried."""
        self._last = None

    def before(self, num_rows: int, like: torch.Tensor) -> LstmState:
        start = self.zeros(num_rows, like)
        if self._last is not None:
            for part, last in zip(start, self._last):
                shared = min(num_rows, last.size(2))
                part[:, :, :shared] = last[:, :, :shared].to(like)
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

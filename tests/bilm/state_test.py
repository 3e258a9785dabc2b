import torch

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.state import CarryState, InitialState, LstmState, SnapshotState
from tests.helpers.reference_bilm import make_options

OPTIONS = BiLmOptions.from_dict(make_options())
LIKE = torch.empty(0)


def filled(*rows: float) -> LstmState:
    """Returns a state with h filled with one value for each row, and c with minus the value."""
    values = torch.tensor(rows, dtype=torch.float32)[:, None]
    return LstmState(values.expand(2, 2, -1, 6), -values.expand(2, 2, -1, 9))


def rows_of(state: LstmState) -> list[float]:
    """Returns the values that a state is filled with."""
    values = state.h[0, 0, :, 0].tolist()
    torch.testing.assert_close(state, filled(*values), rtol=0, atol=0)
    return values


def test_a_snapshot_starts_every_row_from_the_state_that_was_kept() -> None:
    state = SnapshotState(OPTIONS)
    assert rows_of(state.before(2, LIKE)) == [0, 0]

    state.keep(filled(5, 6))
    state.after(filled(1, 2))

    assert rows_of(state.before(3, LIKE)) == [5, 5, 5]


def test_a_snapshot_is_saved_and_nothing_else_is() -> None:
    state = SnapshotState(OPTIONS)
    state.keep(filled(5))
    loaded = SnapshotState(OPTIONS)

    loaded.load_state_dict(state.state_dict())

    assert rows_of(loaded.before(1, LIKE)) == [5]
    carry = CarryState(OPTIONS)
    carry.after(filled(1))
    assert not carry.state_dict() and not InitialState(OPTIONS).state_dict()


def test_every_state_has_the_dtype_that_is_asked_for() -> None:
    for kind in (InitialState, SnapshotState, CarryState):
        state = kind(OPTIONS)
        state.after(filled(1, 2))
        for part in state.before(3, LIKE.double()):
            assert part.dtype == torch.float64

import pytest
import torch

from elmo_tasks.kernels.steps import Steps


@pytest.mark.parametrize("sizes", [[], [3], [3, 2, 2, 1]])
def test_state_before_a_token_is_that_of_its_row_in_the_step_before(sizes: list[int]) -> None:
    # A state names its step and its row.
    states = torch.tensor(
        [(step + 1.0, row) for step, size in enumerate(sizes) for row in range(size)]
    ).view(-1, 2)

    before = Steps(sizes).before(states)

    expected = [
        (step, row if step else 0.0) for step, row in (states - torch.tensor([1, 0])).tolist()
    ]
    assert before.tolist() == [list(each) for each in expected]

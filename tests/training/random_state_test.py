import io
import random

import numpy
import torch

from elmo_tasks.training.random_state import get_random_state, set_random_state


def draws() -> list[float]:
    return [
        random.random(),
        random.gauss(0, 1),
        numpy.random.random(),
        numpy.random.standard_normal(),
        torch.rand(()).item(),
    ]


def test_a_state_that_was_saved_without_pickled_code_gives_the_same_draws() -> None:
    draws()
    file = io.BytesIO()
    torch.save(get_random_state(), file)
    expected = draws()
    draws()
    file.seek(0)

    set_random_state(torch.load(file, weights_only=True))

    assert draws() == expected

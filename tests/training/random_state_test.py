import io
import random

import numpy
import pytest
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


def test_states_of_gpus_are_set_where_there_are_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[str]] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", found.append)
    state = get_random_state()

    for states in (["first", "second"], ["first"]):
        set_random_state({**state, "cuda": states})

    assert found == [["first", "second"]]

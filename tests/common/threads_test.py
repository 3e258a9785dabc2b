"""Tests who chooses the number of threads, in forks, which leave those of the tests alone."""

import os
import sys

import pytest
import torch

from elmo_tasks import console
from elmo_tasks.commands import embed
from elmo_tasks.common.threads import divides, few_threads, num_cores, one_thread
from elmo_tasks.common.worker_processes import in_processes
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.processes import run
from tests.helpers.stored_bilms import fixture_bilm

IDS = ids_of([SENTENCE, SENTENCE[:3]])


@pytest.mark.parametrize(
    "arguments, variables, threads, at_once",
    [
        ([], {}, max(1, num_cores() // 4), num_cores() > 1),
        ([], {"OMP_NUM_THREADS": "2"}, 2, True),
        ([], {"MKL_NUM_THREADS": "2"}, 2, True),
        (["--threads", "1"], {}, 1, False),
        (["--threads", "3"], {"OMP_NUM_THREADS": "2"}, 3, True),
    ],
)
@pytest.mark.fork
def test_the_door_chooses_unless_the_user_does(
    arguments: list[str], variables: dict[str, str], threads: int, at_once: bool
) -> None:
    def look(args: object) -> None:
        assert (torch.get_num_threads(), divides()) == (threads, at_once)
        # Processes that the command starts inherit what its user chose, and nothing else.
        chosen = arguments[1] if arguments else variables.get("OMP_NUM_THREADS")
        assert os.environ.get("OMP_NUM_THREADS") == chosen

    def work() -> None:
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.pop(name, None)
        os.environ.update(variables)
        torch.set_num_threads(2)
        pytest.MonkeyPatch().setattr(embed, "run", look)
        sys.argv = ["elmo-tasks", "embed", __file__, "out.hdf5", *arguments]
        console.main()

    assert run(work) == 0


@pytest.mark.fork
def test_layers_of_two_parts_at_once_are_the_same_in_forks_too() -> None:
    expected = fixture_bilm()(IDS).layers

    def work() -> None:
        few_threads()
        bilm = fixture_bilm()
        torch.testing.assert_close(bilm(IDS).layers, expected, atol=1e-6, rtol=0)
        seen = list(in_processes(2, lambda _: (divides(), bilm(IDS).layers), range(4)))
        assert [at_once for at_once, _ in seen] == 4 * [False]
        for _, layers in seen:
            torch.testing.assert_close(layers, expected, atol=1e-6, rtol=0)
        one_thread()
        assert not divides()

    assert run(work) == 0

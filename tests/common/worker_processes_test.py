import errno
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import h5py
import numpy
import pytest
import torch
from tqdm import tqdm

import elmo_tasks.elmo.sentence_layers
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.worker_processes import in_processes
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.store import LayerStore
from elmo_tasks.embed.embed import embed, read_text
from elmo_tasks.embed.parts import EmbedPart, Part
from elmo_tasks.kernels.threads import operator_threads
from tests.helpers.processes import end, start
from tests.helpers.reference_bilm import FIXTURE_FILES


@cache
def encoder() -> ElmoEncoder:
    return ElmoEncoder.from_pretrained(FIXTURE_FILES)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(elmo_tasks.elmo.sentence_layers, "WINDOW_TOKENS", 12)
    with operator_threads(1):
        yield


@pytest.fixture()
def text(tmp_path: Path) -> Path:
    drawn, path = random.Random(0), tmp_path / "text.txt"
    lines = (
        " ".join(drawn.choices(["the", "boat", "left"], k=drawn.randrange(6))) for _ in range(60)
    )
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.fork
@pytest.mark.parametrize("num_processes", [1, 3])
def test_the_file_is_that_of_one_process_byte_for_byte(num_processes: int, text: Path) -> None:
    one, several = text.with_name("one.hdf5"), text.with_name("several.hdf5")
    embed(read_text(text), one, encoder().layers)

    embed(read_text(text), several, encoder().layers, engine=in_processes(num_processes))

    assert several.read_bytes() == one.read_bytes()


def test_processes_that_are_copies_compute_the_same(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    one, several = text.with_name("one.hdf5"), text.with_name("several.hdf5")
    embed(read_text(text), one, encoder().layers)

    embed(read_text(text), several, encoder().layers, engine=in_processes(2))

    with h5py.File(one) as expected, h5py.File(several) as found:
        assert set(found) == set(expected)
        for index in set(expected) - {"sentence_to_index"}:
            numpy.testing.assert_allclose(found[index], expected[index], atol=1e-5)


@pytest.mark.fork
def test_processes_share_a_store(text: Path, tmp_path: Path) -> None:
    one, several = text.with_name("one.hdf5"), text.with_name("several.hdf5")
    stored = ElmoEncoder.from_pretrained(FIXTURE_FILES, store=LayerStore(str(tmp_path / "store")))

    embed(read_text(text), several, stored.layers, engine=in_processes(2))

    embed(read_text(text), one, stored.layers)
    assert several.read_bytes() == one.read_bytes()


class Kills:
    """An output that kills the process which writes some part, the first times that it does."""

    folder = ""

    def __init__(self, folder: Path, index: int, num_times: int) -> None:
        self.path, self.index, self.num_times = folder / "calls", index, num_times

    def has(self, part: Part) -> bool:
        return False

    def add(self, part: Part, arrays: Iterable[Any]) -> None:
        list(arrays)
        if part.index == self.index:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(".")
            if self.path.stat().st_size <= self.num_times:
                os.kill(os.getpid(), signal.SIGKILL)


def run(output: Any, num_parts: int = 12, engine: Any = None) -> list[int]:
    parts = (Part(index, [index], [["the", "boat"]]) for index in range(num_parts))
    work = EmbedPart(encoder().layers, "all", output)
    return sorted(
        part.index for part in (engine or in_processes(2))(work, parts, tqdm(disable=True))
    )


def test_a_part_whose_process_was_killed_is_done_again(tmp_path: Path) -> None:
    output = Kills(tmp_path, 5, 2)

    assert run(output) == list(range(12))
    assert output.path.stat().st_size == 3


def test_a_part_that_kills_every_process_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="5 processes died on sentences 5 to 5"):
        run(Kills(tmp_path, 5, 99))


class Full(Kills):
    def add(self, part: Part, arrays: Iterable[Any]) -> None:
        if part.index == self.index:
            raise OSError(errno.ENOSPC, "No space left on device", "out")


def test_an_error_in_a_process_is_raised_and_ends_the_others(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        run(Full(tmp_path, 5, 0))

    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "out")
    assert not multiprocessing.active_children()


class Waits(Kills):
    def add(self, part: Part, arrays: Iterable[Any]) -> None:
        self.path.with_name(str(os.getpid())).touch()
        time.sleep(60)


def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "pids"
    folder.mkdir()
    parent = start(partial(run, Waits(folder, 0, 0)))
    deadline = time.monotonic() + 30
    while len(pids := [int(path.name) for path in folder.iterdir()]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)

    os.kill(parent, signal.SIGKILL)

    assert end(parent) == -signal.SIGKILL
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


def test_the_number_of_processes_is_checked() -> None:
    with pytest.raises(ConfigurationError, match="must be 1 or more, not 0"):
        in_processes(0)


@pytest.mark.fork
def test_a_process_has_one_thread_and_the_weights_of_its_parent(tmp_path: Path) -> None:
    class Notes(Kills):
        def add(self, part: Part, arrays: Iterable[Any]) -> None:
            weight = next(encoder().bilm.parameters())
            (tmp_path / str(os.getpid())).write_text(
                f"{torch.get_num_threads()} {weight.data_ptr()}"
            )

    run(Notes(tmp_path, 0, 0))

    notes = {path.read_text() for path in tmp_path.iterdir()}
    assert notes == {f"1 {next(encoder().bilm.parameters()).data_ptr()}"}

"""Tests of embedding on Ray, in one Ray of two CPUs for all of them."""

import os
import random
import runpy
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pyarrow.parquet
import pytest
import ray
import ray.data

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed import shards
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.ray_engine import Cluster, SharedLayers, join_cluster, on_ray
from elmo_tasks.embed.shards import embed_shards, read_vectors
from tests.helpers.reference_bilm import FIXTURE_FILES

BILM = str(Path(FIXTURE_FILES[0]).parent)
EXAMPLE = Path(__file__).parents[2] / "examples" / "ray_data.py"
ON_RAY = partial(on_ray, "local", None)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Cluster]:
    with join_cluster("local", 2, 0) as joined_cluster:
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield joined_cluster
    assert not ray.is_initialized()


@pytest.fixture(scope="module")
def encoder() -> ElmoEncoder:
    return ElmoEncoder.from_pretrained(BILM)


@pytest.fixture()
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shards, "PART_TOKENS", 500)
    drawn, path = random.Random(0), tmp_path / "text.txt"
    words = "The boat left its na\u00efve bank .".split()
    path.write_text("".join(f"{' '.join(drawn.choices(words, k=k % 30))}\n" for k in range(900)))
    return path


def rows(folder: Path) -> list[Any]:
    return [(index, words, array.tobytes()) for index, words, array in read_vectors(folder)]


def actors() -> list[int]:
    """Returns the processes that embed."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_text().startswith("ray::_Worker.embed"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_the_rows_are_those_of_one_process_even_if_a_worker_is_killed(
    text: Path, tmp_path: Path, encoder: ElmoEncoder
) -> None:
    one, several = tmp_path / "one", tmp_path / "several"
    embed_shards(Corpus([text]), one, encoder)
    killed, stop = set[int](), threading.Event()

    def kill() -> None:
        while not killed and not stop.wait(0.1):
            for pid in actors()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        embed_shards(Corpus([text]), several, encoder, engine=ON_RAY)
    finally:
        stop.set()
        thread.join()

    assert killed
    assert rows(several) == rows(one) and len(rows(one)) == 900
    # Nothing is missing, so no process is started.
    since = time.monotonic()
    embed_shards(Corpus([text]), several, encoder, engine=ON_RAY)
    assert time.monotonic() - since < 5 and not actors()


def test_an_error_in_a_process_is_raised_as_it_was(
    text: Path, tmp_path: Path, encoder: ElmoEncoder
) -> None:
    with pytest.raises(ConfigurationError, match="float16") as caught:
        scaled = ElmoMix(3)
        scaled.gamma.data.fill_(1e9)
        mixed = ElmoEncoder(encoder.bilm, scaled)
        embed_shards(Corpus([text]), tmp_path / "out", mixed, "mix", partial(on_ray, "local", 1))
    assert "ray::" not in str(caught.value)


def test_the_example_adds_the_means_of_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "play.txt").write_text("The boat left .\nIts crew\n")
    monkeypatch.chdir(tmp_path)

    runpy.run_path(str(EXAMPLE), run_name="__main__")

    table = pyarrow.parquet.read_table(tmp_path / "runs" / "on-ray-data").sort_by("text")
    encoder = ElmoEncoder.from_pretrained("mini")
    assert table["text"].to_pylist() == ["Its crew", "The boat left ."]
    expected = encoder(table["text"].to_pylist())["default"].numpy()
    numpy.testing.assert_allclose(numpy.stack(table["elmo"].to_numpy()), expected, atol=1e-5)


def test_what_ray_would_wait_for_without_end_is_refused(text: Path, encoder: ElmoEncoder) -> None:
    with pytest.raises(ConfigurationError, match="and 2 CPUs: .* must be from 1 to 2, not 3"):
        three = partial(on_ray, "local", 3)
        embed_shards(Corpus([text]), text.parent / "out", encoder, engine=three)
    with pytest.raises(ConfigurationError, match="object store has 50 bytes.*60 are needed"):
        Cluster(2, 0, 50).require_store(60)


def test_processes_run_as_nice_as_this_one_and_share_the_weights(encoder: ElmoEncoder) -> None:
    shared = ray.put(SharedLayers.of(encoder.layers))

    @ray.remote
    def look(shared: SharedLayers) -> tuple[int, list[bool]]:
        bilm = shared.open().bilm
        stores = [
            [int(end, 16) for end in line.split()[0].split("-")]
            for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
            if "/dev/shm/plasma" in line or "plasma" in line
        ]
        inside = [
            any(start <= weight.data_ptr() < end for start, end in stores)
            for weight in bilm.parameters()
            if weight.numel() > 100
        ]
        return os.nice(0), inside

    nice, inside = ray.get(look.remote(shared))

    assert nice == os.nice(0)
    assert inside and all(inside)

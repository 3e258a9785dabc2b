import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy
import pytest

from elmo_tasks.analysis.check import check
from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.hdf5 import items_of
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.hostile_weights import KINDS, hostile_files
from tests.helpers.reference_bilm import random_files

ROOT = Path(__file__).parents[3]


Files = tuple[Path, Path]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    return {kind: hostile_files(tmp_path_factory.mktemp("files"), kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_does_harm_is_refused_and_not_sound(
    hostile: dict[str, Files], kind: str
) -> None:
    files = hostile[kind]
    _, message = KINDS[kind]

    with pytest.raises(ConfigurationError) as caught:
        make_bilm(*files)
    report = check(*files)

    assert message in str(caught.value) and str(files[1]) in str(caught.value)
    assert message in "\n".join(report.problems)
    str(report).encode("utf-8")


# Loads each pair, and prints how long it took, its error, and how much more memory was used.
LOAD = """
import json, resource, sys, time
from elmo_tasks.bilm import make_bilm

def most_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3

before, results = most_memory(), []
for files in json.loads(sys.argv[1]):
    start, error = time.process_time(), "none"
    try:
        make_bilm(*files)
    except ValueError as caught:
        error = str(caught)
    results.append([time.process_time() - start, error, most_memory() - before])
print(json.dumps(results))
"""


def test_every_refusal_takes_less_than_a_second_and_300_mb(
    hostile: dict[str, Files], tmp_path: Path
) -> None:
    pairs = list(hostile.values())
    options = json.loads(pairs[0][0].read_text())
    whole = random_files(tmp_path / "whole")
    for section, key, value in [
        ("lstm", "n_layers", 10**12),
        ("lstm", "n_layers", 100),
        ("lstm", "dim", 10**12),
        ("lstm", "dim", 10**5),
        ("char_cnn", "n_highway", 10**12),
        ("char_cnn", "filters", [[1, 10**30]]),
        ("char_cnn", "filters", [[1, 1]] * 10**5),
        ("lstm", "x", {}),
    ]:
        path = tmp_path / f"{section}_{key}_{len(pairs)}.json"
        path.write_text(json.dumps({**options, section: {**options[section], key: value}}))
        pairs.append((path, whole[1]))
    deep, pipe = tmp_path / "deep.json", tmp_path / "pipe"
    deep.write_text(10**5 * "[")
    os.mkfifo(pipe)
    pairs += [(deep, whole[1]), (pipe, whole[1]), (whole[0], pipe), (whole[0], Path("/dev/zero"))]
    names = json.dumps([list(map(str, pair)) for pair in pairs])

    run = subprocess.run(
        [sys.executable, "-c", LOAD, names], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    results = json.loads(run.stdout)
    # The pair with an unknown key of the options is sound.
    assert [error for _, error, _ in results if error == "none"] == ["none"]
    assert len(results) == len(KINDS) + 12
    assert max(seconds for seconds, _, _ in results) < 1
    assert max(memory for _, _, memory in results) < 300


def test_items_are_listed_without_following_links(tmp_path: Path) -> None:
    path = tmp_path / "file.hdf5"
    with h5py.File(path, "w") as file:
        file["a/b"] = numpy.zeros(2)
        file["a/link"] = h5py.SoftLink("/a")
        file["other"] = h5py.ExternalLink("nowhere.hdf5", "/")
        file.create_group("empty")

    with h5py.File(path) as file:
        items = items_of(file)
        assert list(items) == ["a/b", "a/link", "other"]
        assert isinstance(items["a/b"], h5py.Dataset)
        assert items["a/link"] is items["other"] is None

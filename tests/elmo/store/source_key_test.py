from pathlib import Path

import numpy
import pytest

from elmo_tasks.bilm.layer_source import LayerSource
from elmo_tasks.elmo.store.database import LayerDatabase
from elmo_tasks.elmo.store.source_key import key_in, own_key

START = numpy.array([0.25, -1.5], numpy.float32)


def source(start: numpy.ndarray = START, fingerprint: bytes = b"f" * 16) -> LayerSource:
    return LayerSource(fingerprint, {"bilm": "2x9_6", "state": "snapshot"}, start, 3, 12)


@pytest.fixture()
def database(tmp_path: Path) -> LayerDatabase:
    return LayerDatabase(str(tmp_path / "store"))


def test_weights_dtypes_and_start_states_have_keys_of_their_own(database: LayerDatabase) -> None:
    sources = [source(), source(START + 1), source(START[:0], b"z" * 16), source(START, b"g" * 16)]
    asked = [*((each, "float16") for each in sources), (source(), "float32")]

    keys = [key_in(database, *each) for each in asked]

    assert len(set(keys)) == len(asked)
    assert keys == [own_key(*each) for each in asked] == [key_in(database, *each) for each in asked]


@pytest.mark.parametrize(("by", "shares"), [(1e-6, True), (1e-3, False)])
def test_a_start_state_that_differs_by_rounding_has_the_key_of_the_first(
    database: LayerDatabase, by: float, shares: bool
) -> None:
    first, other = source(), source(START + by)
    key_in(database, first, "float16")

    for _ in range(2):
        expected = own_key(first if shares else other, "float16")
        assert key_in(database, other, "float16") == expected

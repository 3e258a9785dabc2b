from pathlib import Path

import numpy
import pytest

from elmo_tasks.bilm.layer_source import LayerSource
from elmo_tasks.elmo.store.database import LayerDatabase
from elmo_tasks.elmo.store.source_record import SourceRecord

START = numpy.array([0.25, -1.5], numpy.float32)


def record(
    fingerprint: bytes = b"f" * 16, start: numpy.ndarray = START, dtype: str = "float16"
) -> SourceRecord:
    source = LayerSource(fingerprint, {"bilm": "2x9_6", "state": "snapshot"}, start, 3, 12)
    return SourceRecord.of(source, dtype)


@pytest.fixture()
def database(tmp_path: Path) -> LayerDatabase:
    return LayerDatabase(str(tmp_path / "store"))


def test_a_record_says_which_bilm_in_which_dtype() -> None:
    assert record().about == {"bilm": "2x9_6", "state": "snapshot", "dtype": "float16"}


@pytest.mark.parametrize("start", [START, START[:0]], ids=["snapshot", "zeros"])
def test_a_record_is_read_as_it_was_written(start: numpy.ndarray) -> None:
    written = record(start=start)

    read = SourceRecord.from_bytes(written.to_bytes())

    assert (read.weights, read.about) == (written.weights, written.about)
    numpy.testing.assert_array_equal(read.start, start)
    assert read.key() == written.key()


def test_weights_dtypes_and_start_states_have_keys_of_their_own() -> None:
    records = [
        record(),
        record(fingerprint=b"g" * 16),
        record(dtype="float32"),
        record(start=START + 1),
        record(start=START[:0]),
    ]

    keys = {one.key() for one in records}

    assert len(keys) == len(records)
    assert record().key() in keys


def test_a_start_state_that_differs_by_rounding_shares_the_entries_of_the_first(
    database: LayerDatabase,
) -> None:
    first, rounded = record(), record(start=START + 1e-6)

    assert first.shared_in(database).key() == first.key()
    assert rounded.shared_in(database).key() == first.key() != rounded.key()


def test_a_start_state_that_differs_by_more_has_entries_of_its_own(
    database: LayerDatabase,
) -> None:
    first, other = record(), record(start=START + 1e-3)
    first.shared_in(database)

    shared = other.shared_in(database)

    assert shared.key() == other.key() != first.key()

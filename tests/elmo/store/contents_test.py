from pathlib import Path

import pytest
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.store.contents import contents, merge
from elmo_tasks.elmo.store.layer_store import LayerStore
from tests.helpers.stored_bilms import computed_by, fixture_bilm, moved


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def test_contents_are_counted_for_each_bilm_and_dtype(path: str) -> None:
    ids = batch_to_ids([["a", "b"], ["c"]])
    fixture_bilm(LayerStore(path))(ids)
    fixture_bilm(LayerStore(path, "float32"))(ids[:1])
    fixture_bilm(LayerStore(path), state="reset")(ids[1:])

    held = contents(path)

    # The entry of a token has 5 * 16 numbers.
    counted = {
        (share.source.about["state"], share.source.about["dtype"]): (
            share.num_sentences,
            share.num_bytes,
        )
        for share in held.shares
    }
    assert counted == {
        ("snapshot", "float16"): (2, 3 * 160),
        ("snapshot", "float32"): (1, 2 * 320),
        ("reset", "float16"): (1, 160),
    }
    assert held.num_sentences == 2
    assert held.file_bytes > 0


def test_bilms_whose_start_states_differ_by_rounding_are_merged_into_one(
    tmp_path: Path, path: str
) -> None:
    here, there = fixture_bilm(LayerStore(path, "float32")), moved(1e-6)
    there.store = LayerStore(str(tmp_path / "other"), "float32")
    here(batch_to_ids([["here"]]))
    there(batch_to_ids([["there"]]))

    num_merged = merge(path, str(tmp_path / "other"))

    assert num_merged == 1
    bilm = fixture_bilm(LayerStore(path, "float32"))
    computed = computed_by(bilm)
    bilm(batch_to_ids([["here"], ["there"]]))
    assert computed == []
    assert len(contents(path).shares) == 1


def test_bilms_whose_start_states_differ_by_more_stay_apart_in_a_merged_store(
    tmp_path: Path, path: str
) -> None:
    here, there = fixture_bilm(LayerStore(path)), moved(0.5)
    there.store = LayerStore(str(tmp_path / "other"))
    for bilm in (here, there):
        bilm(batch_to_ids([["word"]]))

    merge(path, str(tmp_path / "other"))

    there.store = LayerStore(path)
    computed = computed_by(there)
    there(batch_to_ids([["word"]]))
    assert computed == []
    assert [share.num_sentences for share in contents(path).shares] == [1, 1]


def test_a_path_without_a_store_is_refused_and_stays_empty(tmp_path: Path, path: str) -> None:
    fixture_bilm(LayerStore(str(tmp_path / "there")))(batch_to_ids([["word"]]))

    for refused in (lambda: contents(path), lambda: merge(str(tmp_path / "there"), path)):
        with pytest.raises(ConfigurationError, match=f"there is no store at {path}"):
            refused()

    assert not Path(path).exists()

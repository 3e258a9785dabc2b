import torch
from allennlp.modules.elmo import batch_to_ids
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.bilm.char_id_table import CharIdTable

sentences = st.lists(st.lists(st.text(max_size=4), min_size=1, max_size=5), min_size=1, max_size=4)


@given(batches=st.lists(sentences, max_size=4), max_words=st.integers(0, 5))
def test_char_ids_are_allennlps_however_often_the_table_is_emptied(
    batches: list[list[list[str]]], max_words: int
) -> None:
    table = CharIdTable(max_words)

    for batch in batches:
        assert torch.equal(table.char_ids(batch), batch_to_ids(batch))


def test_the_table_grows_beyond_its_first_size() -> None:
    table, words = CharIdTable(), [str(k) for k in range(2500)]

    first = table.char_ids([words])

    assert torch.equal(first, batch_to_ids([words]))
    assert torch.equal(table.char_ids([words[::-1]]), batch_to_ids([words[::-1]]))


def test_the_table_does_not_grow_with_the_text() -> None:
    table, sizes = CharIdTable(max_words=1500), []

    for start in range(0, 12000, 500):
        table.char_ids([[str(k) for k in range(start, start + 500)]])
        sizes.append(table._char_ids.nbytes)

    assert max(sizes) == max(sizes[:4]) == 2048 * 50 * 2

from concurrent.futures import ThreadPoolExecutor

import torch
from allennlp.modules.elmo import batch_to_ids
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.bilm.char_id_table import CharIdTable
from elmo_tasks.bilm.characters import batch_char_ids
from tests.helpers.threads import switching_often

sentences = st.lists(st.lists(st.text(max_size=4), min_size=1, max_size=5), min_size=1, max_size=4)


@given(batches=st.lists(sentences, max_size=4), max_words=st.integers(0, 5))
def test_char_ids_are_allennlps_however_often_the_table_is_emptied(
    batches: list[list[list[str]]], max_words: int
) -> None:
    table = CharIdTable(max_words=max_words)

    for batch in batches:
        assert torch.equal(table.char_ids(batch), batch_to_ids(batch))


def test_the_table_does_not_grow_with_the_text() -> None:
    table, sizes = CharIdTable(max_words=1500), []

    for start in range(0, 12000, 500):
        table.char_ids([[str(k) for k in range(start, start + 500)]])
        sizes.append(len(table._rows))

    assert max(sizes) == 2000


def test_tokens_may_have_other_numbers_of_characters() -> None:
    words = [["boat", "b"], ["a" * 70]]

    assert torch.equal(CharIdTable(60).char_ids(words), batch_char_ids(words, 60))


def test_a_sentence_may_have_no_token() -> None:
    table = CharIdTable()

    assert torch.equal(table.char_ids([[], ["boat"]]), batch_char_ids([[], ["boat"]]))
    assert table.char_ids([[], []]).shape == (2, 0, 50)
    assert table.char_ids([]).shape == (0, 0, 50)


def test_threads_may_share_a_table() -> None:
    table = CharIdTable(max_words=40)
    batches = [[[f"{k}{n}" for n in range(50)]] for k in range(200)]

    with switching_often(), ThreadPoolExecutor(8) as pool:
        found = list(pool.map(table.char_ids, batches))

    for char_ids, batch in zip(found, batches):
        assert torch.equal(char_ids, batch_to_ids(batch))

from collections import Counter
from itertools import chain

import pytest

from elmo_tasks.language_model.corpus_loader import CorpusLoader
from tests.helpers.corpus_loaders import SENTENCES, ids, make_loader, texts


def streams(loader: CorpusLoader, field: str) -> list[list[str]]:
    """
    Returns the tokens that each row reads in an epoch. Asserts that every window begins with the
    last token of the window before it.
    """
    batches = [texts(loader, ids(batch, field)) for batch in loader]
    rows = []
    for windows in zip(*batches):
        for window, following in zip(windows, windows[1:]):
            assert window[-1] == following[0]
        rows.append([*chain.from_iterable(window[:-1] for window in windows), windows[-1][-1]])
    return rows


@pytest.mark.parametrize("field", ["tokens", "backward_tokens"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_row_of_windows_reads_whole_sentences_end_to_end(field: str, shuffle: bool) -> None:
    rows = streams(make_loader("elmo_windows", shuffle=shuffle), field)
    begin, end = ("<S>", "</S>") if field == "tokens" else ("</S>", "<S>")

    read: list[tuple[str, ...]] = []
    for row in rows:
        assert row[0] == begin
        starts = [index for index, word in enumerate(row) if word == begin]
        for start, stop in zip(starts, [*starts[1:], len(row)]):
            sentence = tuple(row[start:stop])
            # The last sentence of a row may be cut.
            assert sentence[-1] == end or stop == len(row)
            if sentence[-1] == end:
                read.append(sentence if field == "tokens" else sentence[::-1])

    left = Counter(SENTENCES) - Counter(read)
    assert not Counter(read) - Counter(SENTENCES)
    # The last batch, which is not full, is left out.
    assert left.total() <= 2 * len(rows)


def test_windows_are_full_and_of_one_shape() -> None:
    for batch in make_loader("elmo_windows"):
        for field in ("tokens", "backward_tokens"):
            assert batch[field]["elmo"]["elmo_tokens"].shape == (3, 8, 50)
            assert (ids(batch, field) > 0).all()


def test_the_two_directions_read_in_orders_of_their_own() -> None:
    loader = make_loader("elmo_windows", rows=1, length=20)
    forward = streams(loader, "tokens")
    backward = streams(make_loader("elmo_windows", rows=1, length=20), "backward_tokens")

    assert forward[0][:15] != backward[0][:15]
    assert Counter(forward[0][:15]) != Counter(backward[0][:15])

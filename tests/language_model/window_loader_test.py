import random
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

from elmo_tasks.language_model.corpus_loader import CorpusLoader
from tests.helpers.corpus_loaders import SENTENCES, make_loader, windows

FIELDS = ["tokens", "backward_tokens"]
# What bilm-tf's `_get_batch` makes of these sentences, worked by hand, for two rows of three steps.
# A row takes the next sentence of the text when its own is read to its last target. bilm-tf leaves
# out the last batch, in which no row is full.
TEXT = "a b\nc\nd e f g\nh\ni j\n"
BATCHES = {
    "tokens": [
        [("<S> a b", "a b </S>"), ("<S> c <S>", "c </S> d")],
        [("<S> h <S>", "h </S> i"), ("d e f", "e f g")],
        [("i j", "j </S>"), ("g", "</S>")],
    ],
    "backward_tokens": [
        [("</S> b a", "b a <S>"), ("</S> c </S>", "c <S> g")],
        [("</S> h </S>", "h <S> j"), ("g f e", "f e d")],
        [("j i", "i <S>"), ("d", "<S>")],
    ],
}


def streams(loader: CorpusLoader, field: str) -> list[list[tuple[str, str]]]:
    """Returns what each row reads and predicts in an epoch."""
    batches = [windows(loader, batch, field) for batch in loader]
    return [list(chain.from_iterable(row)) for row in zip(*batches)]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("shuffle", [True, False])
def test_batches_are_those_of_bilm_tf_worked_by_hand(
    field: str, shuffle: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random.Random, "shuffle", lambda *_: None)
    (tmp_path / "text").write_text(TEXT)
    loader = make_loader("elmo_windows", tmp_path / "text", rows=2, length=3, shuffle=shuffle)

    batches = [windows(loader, batch, field) for batch in loader]

    expected = [
        [list(zip(read.split(), predicted.split(), strict=True)) for read, predicted in rows]
        for rows in BATCHES[field]
    ]
    # A text that is not shuffled is measured to its end.
    assert batches == (expected[:2] if shuffle else expected)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    ("num_rows", "length", "shuffle"),
    [(3, 7, True), (3, 7, False), (1, 1, False), (16, 20, False), (200, 3, False)],
)
def test_a_row_of_windows_reads_whole_sentences_end_to_end(
    field: str, num_rows: int, length: int, shuffle: bool
) -> None:
    loader = make_loader("elmo_windows", rows=num_rows, length=length, shuffle=shuffle)
    rows = list(filter(None, streams(loader, field)))
    begin, end = ("<S>", "</S>") if field == "tokens" else ("</S>", "<S>")

    finished: list[tuple[str, ...]] = []
    for row in rows:
        assert row[0][0] == begin
        words: list[str] = []
        for read, predicted in row:
            # What was predicted is read next, except the end of a sentence.
            assert read == (words[-1] if words else begin)
            words = [*(words or [begin]), predicted]
            if predicted == end:
                finished.append(tuple(words if field == "tokens" else words[::-1]))
                words = []

    left = Counter(SENTENCES) - Counter(finished)
    assert not Counter(finished) - Counter(SENTENCES)
    # The last batches of a training, which are not full, are left out.
    assert left.total() <= (2 * len(rows) if shuffle else 0)


def test_the_two_directions_read_in_orders_of_their_own() -> None:
    loader = make_loader("elmo_windows", rows=1, length=20)
    forward = streams(loader, "tokens")
    backward = streams(make_loader("elmo_windows", rows=1, length=20), "backward_tokens")

    words = [[read for read, _ in row[:15]] for row in (forward[0], backward[0])]

    assert words[0] != words[1]
    assert Counter(words[0]) != Counter(words[1])

from collections import Counter

import pytest

from elmo_tasks.language_model import corpus_loader
from tests.helpers.corpus_loaders import SENTENCES, ids, make_loader, sentences


def test_sentences_are_shuffled_in_chunks_and_every_one_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(corpus_loader, "_CHUNK", 10)
    loader = make_loader("elmo_sentences")
    first, second = sentences(loader), sentences(loader)

    assert Counter(first) == Counter(second) == Counter(SENTENCES)
    assert first != second


def test_without_shuffling_the_sentences_lie_by_length() -> None:
    loader = make_loader("elmo_sentences", shuffle=False)

    assert sentences(loader) == sentences(loader) == sorted(SENTENCES, key=len)


@pytest.mark.parametrize("batch_tokens", [1, 30, 100, 10_000])
def test_a_batch_has_so_many_tokens_at_most(batch_tokens: int) -> None:
    for batch in make_loader("elmo_sentences", batch_tokens=batch_tokens):
        lengths = (ids(batch) > 0).sum(dim=1)
        # The end of a sentence is predicted, but not read.
        assert (lengths - 1).sum() <= batch_tokens or len(lengths) == 1

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.bilm.token_cache import TokenCache


def vectors_of(char_ids: torch.Tensor) -> torch.Tensor:
    return char_ids[:, :3].float() * 2 + 1


def tokens(characters: list[int]) -> torch.Tensor:
    char_ids = torch.full((len(characters), 50), 261)
    char_ids[:, 1] = torch.tensor(characters, dtype=torch.long)
    return char_ids


@given(
    batches=st.lists(st.lists(st.integers(1, 256), unique=True, max_size=12), max_size=12),
    max_tokens=st.integers(1, 20),
)
def test_vectors_equal_computed_ones_whatever_the_cache_holds(
    batches: list[list[int]], max_tokens: int
) -> None:
    cache = TokenCache(max_tokens)

    for batch in batches:
        char_ids = tokens(batch)

        assert torch.equal(cache.vectors(char_ids, vectors_of), vectors_of(char_ids))


def test_a_token_is_computed_once_while_it_is_remembered() -> None:
    cache, computed = TokenCache(3), []

    def compute(char_ids: torch.Tensor) -> torch.Tensor:
        computed.extend(char_ids[:, 1].tolist())
        return vectors_of(char_ids)

    for batch in ([1, 2], [2, 3], [1], [4], [1]):
        cache.vectors(tokens(batch), compute)

    # Token 4 replaced token 1, which the cache had had longest.
    assert computed == [1, 2, 3, 4, 1]


def test_threads_may_share_a_cache(request: pytest.FixtureRequest) -> None:
    # Python switches between threads as often as it can.
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)
    cache = TokenCache(30)
    batches = [tokens([1 + (k + n) % 250 for n in range(20)]) for k in range(0, 4000, 7)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda batch: cache.vectors(batch, vectors_of), batches))

    for vectors, batch in zip(found, batches):
        assert torch.equal(vectors, vectors_of(batch))


def test_a_cache_that_was_interrupted_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, row_of = TokenCache(30), TokenCache._row
    cache.vectors(tokens([1, 2]), vectors_of)

    def interrupted(cache: TokenCache, key: bytes) -> int:
        if len(cache._rows) == 4:
            raise KeyboardInterrupt
        return row_of(cache, key)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(TokenCache, "_row", interrupted)
        cache.vectors(tokens([3, 4, 5]), vectors_of)
    again = tokens([1, 3, 4, 5])

    assert torch.equal(cache.vectors(again, vectors_of), vectors_of(again))


def test_a_thread_that_meets_another_one_computes_by_itself() -> None:
    cache = TokenCache(30)

    with cache._lock:
        first = cache.vectors(tokens([1, 2]), vectors_of)

    assert torch.equal(first, vectors_of(tokens([1, 2]))) and not cache._rows

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

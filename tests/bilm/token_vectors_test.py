import torch

from elmo_tasks.bilm.token_vectors import TokenVectors
from tests.helpers.bilm_examples import ids_of


def test_each_distinct_token_is_computed_once() -> None:
    char_ids = ids_of([["a", "b", "a"], ["b"]])
    computed = []

    def compute(distinct: torch.Tensor) -> torch.Tensor:
        computed.append(len(distinct))
        return distinct[:, :3].float()

    tokens = TokenVectors.of(char_ids, compute)

    # "a", "b" and padding.
    assert computed == [3]
    everywhere = tokens.at(torch.arange(6))
    assert torch.equal(everywhere, char_ids.flatten(0, 1)[:, :3].float())


def test_vectors_at_indices_are_those_of_the_tokens_there() -> None:
    vectors = torch.randn(3, 4, requires_grad=True)
    tokens = TokenVectors(vectors, torch.tensor([2, 0, 2, 1]))

    found = tokens.at(torch.tensor([3, 2, 0]))

    assert torch.equal(found, vectors[[1, 2, 2]])

    found.sum().backward()

    assert vectors.grad is not None and vectors.grad[:, 0].tolist() == [0, 1, 2]

import torch

from elmo_tasks.bilm.token_vectors import TokenVectors


def test_vectors_at_indices_are_those_of_the_tokens_there() -> None:
    vectors = torch.randn(3, 4, requires_grad=True)
    tokens = TokenVectors(vectors, torch.tensor([2, 0, 2, 1]))

    found = tokens.at(torch.tensor([3, 2, 0]))

    assert torch.equal(found, vectors[[1, 2, 2]])
    found.sum().backward()
    assert vectors.grad is not None and vectors.grad[:, 0].tolist() == [0, 1, 2]

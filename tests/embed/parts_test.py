import torch

from elmo_tasks.elmo import ElmoMix
from elmo_tasks.embed.parts import cut, vectors


def test_parts_follow_each_other_and_keep_the_indices() -> None:
    sentences = [["w"] * (index % 5) for index in range(40)]

    parts = list(cut(iter(sentences), 10, ".hdf5"))

    assert [part.index for part in parts] == list(range(len(parts)))
    pairs = [pair for part in parts for pair in zip(part.ids, part.sentences)]
    assert pairs == list(enumerate(sentences))
    for part in parts[:-1]:
        *others, last = part.sentences
        size = part.num_tokens + len(part.sentences)
        assert size >= 10 > size - len(last) - 1
    assert sum(part.num_tokens for part in parts) == 80


def test_the_vectors_are_those_of_the_embedding() -> None:
    layers = torch.randn(3, 4, 6)
    mix = ElmoMix(3).eval()
    with torch.no_grad():
        mix.scalar_parameters.copy_(torch.tensor([0.0, 1.0, 2.0]))
        mix.gamma.fill_(2.0)

    weights = torch.tensor([0.0, 1.0, 2.0]).exp() / (1 + torch.e + torch.e**2)
    expected = 2 * (weights[:, None, None] * layers).sum(0)
    torch.testing.assert_close(vectors(layers, "mix", mix), expected)
    assert torch.equal(vectors(layers, "all", mix), layers)
    assert torch.equal(vectors(layers, "top", mix), layers[2])
    torch.testing.assert_close(vectors(layers, "average", mix), layers.sum(0) / 3)

from pathlib import Path

import numpy
import pytest
import torch
from allennlp.modules.elmo import batch_to_ids
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from torch.nn.functional import normalize

from elmo_tasks.analysis.neighbors.vectors import (
    Group,
    cluster,
    principal_plane,
    similar_words,
    similar_words_of_file,
)
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.reference_bilm import FIXTURE_FILES

WORDS = ["bank", "banks", "river", "a", "the", "naïve"]


def vectors(number: int, dim: int = 5, seed: int = 0) -> torch.Tensor:
    return normalize(torch.randn(number, dim, generator=torch.Generator().manual_seed(seed)))


def two_heaps() -> torch.Tensor:
    """Returns five vectors near one axis and three near another."""
    axes = torch.eye(5)[[0, 1, 0, 0, 1, 0, 1, 0]]
    return normalize(axes + 0.1 * vectors(8))


def cosine(first: torch.Tensor, second: torch.Tensor) -> float:
    a, b = first.numpy(), second.numpy()
    return float(a @ b / (numpy.linalg.norm(a) * numpy.linalg.norm(b)))


def members(group: Group) -> list[int]:
    return [member for member, _ in group]


def test_two_heaps_are_two_clusters_the_larger_first() -> None:
    heaps = two_heaps()

    first, second = cluster(heaps, 2)

    assert (set(members(first)), set(members(second))) == ({0, 2, 3, 5, 7}, {1, 4, 6})
    for group in (first, second):
        middle = heaps[members(group)].mean(0)
        expected = [cosine(heaps[member], middle) for member in members(group)]
        assert [value for _, value in group] == pytest.approx(expected, abs=1e-6)
        assert expected == sorted(expected, reverse=True)


def test_there_are_no_more_clusters_than_vectors_that_differ() -> None:
    (group,) = cluster(vectors(1).expand(4, -1), 3)

    assert sorted(members(group)) == [0, 1, 2, 3]

    assert len(cluster(vectors(2), 3)) == 2


@given(st.integers(1, 12), st.integers(1, 4))
def test_the_plane_is_that_of_scikit_learn(number: int, dim: int) -> None:
    drawn = vectors(number, dim)

    points = principal_plane(drawn)

    most = min(number, dim, 2)
    pca = PCA(most).fit(drawn.double().numpy()) if number > 1 else None
    expected = numpy.zeros((number, 2))
    if pca is not None:
        expected[:, :most] = pca.transform(drawn.double().numpy())
    # A component has no sign.
    assert points.abs().numpy() == pytest.approx(abs(expected), abs=1e-6)


def test_the_nearest_words_are_those_of_layer_0_in_any_sentence() -> None:
    bilm = make_bilm(*FIXTURE_FILES).eval()
    # Layer 0 of a sentence of all words.
    x = bilm(batch_to_ids([WORDS])).layers[0, 0]
    cosines = torch.nn.functional.cosine_similarity(x[:1], x[1:]).tolist()
    expected = sorted(zip(WORDS[1:], cosines), key=lambda pair: -pair[1])

    found = similar_words(bilm, "bank", WORDS, 3)

    assert [word for word, _ in found] == [word for word, _ in expected[:3]]
    torch.testing.assert_close([c for _, c in found], [c for _, c in expected[:3]])


def test_a_word_alone_is_near_no_other() -> None:
    assert similar_words(make_bilm(*FIXTURE_FILES), "bank", ["bank"], 3) == []


def test_the_nearest_words_of_a_file_are_those_of_the_largest_cosine(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("4 2\nbank 1 0\nriver 1 1\nwrong 1\nmoney 9 1\nsky -1 0\nlate 1 0\n")

    found = similar_words_of_file(str(path), "Bank", 6, 2)

    assert found == [("money", pytest.approx(9 / 82**0.5)), ("river", pytest.approx(0.5**0.5))]
    with pytest.raises(ConfigurationError, match="no vector of 'late' in its first 6 lines"):
        similar_words_of_file(str(path), "late", 6, 2)

import gzip
from collections import Counter
from pathlib import Path

import numpy
import pytest
import torch
from allennlp.modules.elmo import batch_to_ids
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from torch.nn.functional import normalize

from elmo_tasks.analysis.neighbors.occurrences import (
    Occurrence,
    Ranking,
    cluster,
    principal_plane,
    search,
    similar_words,
    similar_words_of_file,
)
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.reference_bilm import FIXTURE_FILES

LINES = ["the bank of the river", "a bank and a bank", "", "Bank holidays", "nothing here"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_every_place_of_the_word_is_found_in_its_order(text: Path) -> None:
    corpus = search(text, "bank", max_occurrences=10)

    first, second = LINES[0].split(), LINES[1].split()
    assert corpus.occurrences == [
        Occurrence(first, 1),
        Occurrence(second, 1),
        Occurrence(second, 4),
    ]
    # The empty line is not counted as a sentence.
    assert (corpus.num_occurrences, corpus.num_sentences) == (3, 4)
    assert corpus.counts == Counter(" ".join(LINES).split())


def test_packed_files_and_patterns_are_read(text: Path) -> None:
    text.with_name("text.gz").write_bytes(gzip.compress(b"the bank\n"))

    assert search(text.with_name("text.*"), "bank", 10).num_occurrences == 4


def test_a_line_of_5000_tokens_is_read_in_pieces(text: Path) -> None:
    words = ["w"] * 5000
    words[300] = "bank"
    text.write_text(" ".join(words) + "\n", encoding="utf-8")

    (found,) = search(text, "bank", 10).occurrences

    assert found.words[found.position] == "bank" and len(found.words) <= 256


def test_of_too_many_each_is_as_likely_to_be_drawn(text: Path) -> None:
    text.write_text("".join(f"{number} x\n" for number in range(12)), encoding="utf-8")
    drawn: Counter[str] = Counter()
    for seed in range(600):
        found = search(text, "x", 4, seed=seed)
        numbers = [occurrence.words[0] for occurrence in found.occurrences]
        assert numbers == sorted(set(numbers), key=int) and len(numbers) == 4
        assert found.num_occurrences == 12
        drawn.update(numbers)

    # Each is drawn 200 times on average; four standard deviations are 46.
    assert len(drawn) == 12
    assert all(abs(count - 200) < 46 for count in drawn.values())
    # A seed decides what is drawn.
    assert search(text, "x", 4, seed=599) == found


@pytest.mark.parametrize(
    ("position", "line"),
    [
        (0, "            a  little boa"),
        (2, "  a little  boat  sailed to "),
        (6, "led to the  sea  "),
    ],
)
def test_a_line_has_so_many_characters_on_either_side(position: int, line: str) -> None:
    words = "a little boat sailed to the sea".split()

    assert Occurrence(words, position).line(10) == line


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


def members(group: Ranking) -> list[int]:
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
    path.write_text("4 2\nbank 1 0\nriver 1 1\nmoney 9 1\nsky -1 0\nlate 1 0\n")

    found = similar_words_of_file(str(path), "Bank", 4, 2)

    assert found == [("money", pytest.approx(9 / 82**0.5)), ("river", pytest.approx(0.5**0.5))]
    with pytest.raises(ConfigurationError, match="no vector of 'late' in its first 4 words"):
        similar_words_of_file(str(path), "late", 4, 2)


def test_sentences_with_other_forms_of_the_word_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("A light bag.\nTurn on the light.\nLight, light. and “LIGHT”\nlighter light2\n")

    found = search(path, "light", 10)
    cut = search(path, "light", 10, split=lambda line: [line.replace(".", " .")])

    assert found.num_occurrences == 1 and found.num_others == 2
    assert found.forms == {"light.": 2, "Light,": 1, "“LIGHT”": 1}
    assert cut.num_occurrences == 3 and cut.num_others == 1
    assert search(path, ".", 10).num_others == 0


def test_boundaries_of_sentences_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "text.txt"
    path.write_text("<S> The bank </S>\n")

    search(path, "bank", 10)

    assert "2 words are" in caplog.text

from pathlib import Path

import numpy
import pytest
import torch
from allennlp.data import Vocabulary

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.language_model.vector_fit import (
    FileVectors,
    VectorFit,
    fit_characters,
    read_word_vectors,
)

OPTIONS = {
    "lstm": {"projection_dim": 6, "dim": 8, "n_layers": 2, "cell_clip": 3, "proj_clip": 3},
    "char_cnn": {
        "activation": "relu",
        "filters": [[1, 16], [2, 32], [3, 32]],
        "n_highway": 1,
        "embedding": {"dim": 8},
        "n_characters": 262,
        "max_characters_per_token": 50,
    },
}
WORDS = ["the", "a", "of", "sea", "boat", "rope", "ebb", "isle", "mast", "oar"]


def words(dim: int, seed: int = 0) -> FileVectors:
    generator = torch.Generator().manual_seed(seed)
    return FileVectors(WORDS, 3 * torch.randn(len(WORDS), dim, generator=generator) + 1)


def vocabulary() -> Vocabulary:
    """Has capitalized forms, in the order of their frequency, and a word without a vector."""
    forms = [word.capitalize() for word in WORDS]
    return Vocabulary(tokens_to_add={"tokens": ["sea", "Sea", "gull", *forms]})


def explained(bilm: BiLm, texts: list[str], vectors: torch.Tensor) -> float:
    with torch.no_grad():
        given = bilm.char_cnn(batch_char_ids([texts])[0])[:, : vectors.size(1)]
    return 1 - float((given - vectors / 2).square().mean() / (vectors / 2).square().mean())


def test_the_character_cnn_learns_to_give_the_vectors_also_of_capitalized_words() -> None:
    torch.manual_seed(0)
    bilm, given = make_bilm(OPTIONS, requires_grad=True), words(4).standardized(6)
    before = explained(bilm, WORDS, given.vectors)

    fit_characters(bilm.char_cnn, VectorFit.of(given, vocabulary()), 150)

    assert before < 0.2
    assert explained(bilm, WORDS, given.vectors) > 0.9
    assert explained(bilm, [word.capitalize() for word in WORDS], given.vectors) > 0.9
    assert all(tensor.grad is None for tensor in bilm.parameters())


def test_the_loss_is_one_for_vectors_of_zeros_and_zero_for_the_vectors_themselves() -> None:
    given = words(4).standardized(6)
    fit = VectorFit.of(given, vocabulary())
    by_id = {tuple(ids.tolist()): row for ids, row in zip(fit.char_ids, fit.rows)}

    def itself(char_ids: torch.Tensor) -> torch.Tensor:
        rows = torch.stack([by_id[tuple(ids.tolist())] for ids in char_ids])
        return torch.nn.functional.pad(fit.vectors[rows], (0, 2))

    def zeros(char_ids: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(char_ids), 6)

    itself.embedding = zeros.embedding = torch.zeros(1)  # type: ignore[attr-defined]
    torch.manual_seed(0)

    assert fit.loss(itself, 100) == 0  # type: ignore[arg-type]
    # The vectors have a variance of 1 over all words, but not all words are drawn alike.
    assert 0.5 < fit.loss(zeros, 5000) < 2  # type: ignore[arg-type]


def test_forms_of_a_word_share_its_probability_and_frequent_words_are_drawn_more_often() -> None:
    fit = VectorFit.of(words(4), vocabulary())

    probability = torch.diff(fit.cumulative, prepend=torch.zeros(1).double())
    by_row = torch.zeros(len(WORDS)).double().index_add(0, fit.rows, probability)

    expected = (torch.arange(len(WORDS)) + 20).double() ** -0.6
    torch.testing.assert_close(by_row, expected / expected.sum())
    # In the vocabulary, padding and the unknown word come before "sea" and "Sea".
    torch.testing.assert_close(probability[0] / probability[1], torch.tensor(4 / 3).double())


def test_vectors_are_standardized_as_by_numpy() -> None:
    given = words(4)

    standardized = given.standardized(6)

    array = given.vectors.double().numpy()
    expected = (array - array.mean(0)) / array.std(0, ddof=1)
    assert standardized.words == WORDS
    numpy.testing.assert_allclose(standardized.vectors, expected, atol=1e-5)


def test_of_wider_vectors_the_principal_components_are_taken() -> None:
    given = words(8)

    standardized = given.standardized(3).vectors.double().numpy()

    array = given.vectors.double().numpy()
    left, _, _ = numpy.linalg.svd(array - array.mean(0), full_matrices=False)
    # Left singular vectors have a length of 1 and any sign.
    similarities = abs(left[:, 2::-1].T @ standardized) / numpy.sqrt(len(WORDS) - 1)
    numpy.testing.assert_allclose(similarities, numpy.eye(3), atol=1e-4)


def test_lines_of_another_width_are_left_out_and_the_number_of_words_is_bounded(
    tmp_path: Path,
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("sea 1 2\n. . . 3 4\nboat 5 6\nrope 7 8\n")

    read = read_word_vectors(str(path), 2)

    assert read.words == ["sea", "boat"]
    assert read.vectors.tolist() == [[1, 2], [5, 6]]


def test_a_file_without_vectors_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("sea\nboat\n")

    with pytest.raises(ValueError, match="vectors.txt has no word vectors"):
        read_word_vectors(str(path), 100)

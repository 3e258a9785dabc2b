from pathlib import Path

import numpy
import pytest

from elmo_tasks.language_model.word_vectors import read_word_vectors
from tests.language_model.vector_fit_test import WORDS, words


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

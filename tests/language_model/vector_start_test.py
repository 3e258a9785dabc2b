import copy
from pathlib import Path

import numpy
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import load_archive

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.language_model import vector_start
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.vector_start import (
    FileVectors,
    begin_softmax,
    fit_characters,
    read_word_vectors,
)
from tests.helpers.language_model_configs import shrunk
from tests.helpers.stop_callback import STOP_AT, Stopped

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


def explained(bilm: BiLm, texts: list[str], vectors: torch.Tensor) -> float:
    with torch.no_grad():
        given = bilm.char_cnn(batch_char_ids([texts])[0])[:, : vectors.size(1)]
    return 1 - float((given - vectors / 2).square().mean() / (vectors / 2).square().mean())


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


def test_the_character_cnn_learns_to_give_the_vectors_also_of_capitalized_words() -> None:
    torch.manual_seed(0)
    bilm, given = BiLm(OPTIONS, requires_grad=True), words(4).standardized(6)
    before = explained(bilm, WORDS, given.vectors)

    fit_characters(bilm.char_cnn, given, 150)

    assert before < 0.2
    assert explained(bilm, WORDS, given.vectors) > 0.9
    assert explained(bilm, [word.capitalize() for word in WORDS], given.vectors) > 0.9
    assert all(tensor.grad is None for tensor in bilm.parameters())


def test_rows_of_known_words_begin_as_the_vectors() -> None:
    vocab = Vocabulary(tokens_to_add={"tokens": ["Sea", "oar", "gull"]})
    softmax, given = SampledSoftmax(vocab.get_vocab_size("tokens"), 6), words(4)
    before = softmax.weight.detach().clone()

    num_known = begin_softmax(softmax, given, vocab)

    assert num_known == 2
    for word, row in (("Sea", WORDS.index("sea")), ("oar", WORDS.index("oar"))):
        index = vocab.get_token_index(word, "tokens") - 1
        torch.testing.assert_close(softmax.weight[index, :4], 0.15 * given.vectors[row])
        torch.testing.assert_close(softmax.weight[index, 4:], before[index, 4:])
    unknown = vocab.get_token_index("gull", "tokens") - 1
    torch.testing.assert_close(softmax.weight[[0, unknown]], before[[0, unknown]])


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


def test_a_recovered_training_does_not_start_again_and_an_archive_needs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(Path("fixtures/vectors.txt").read_text())
    config = shrunk(
        "base", f"{{ start_from_vectors: '{file}', trainer+: {{ callbacks+: ['stop'] }} }}"
    )
    fits: list[int] = []

    def fit(cnn: CharCnn, words: FileVectors, num_batches: int) -> None:
        fits.append(num_batches)
        fit_characters(cnn, words, num_batches)

    monkeypatch.setattr(vector_start, "fit_characters", fit)

    monkeypatch.setenv(STOP_AT, "1:1")
    with pytest.raises(Stopped):
        train_model(Params(copy.deepcopy(config)), str(tmp_path / "run"))
    monkeypatch.delenv(STOP_AT)
    file.unlink()
    train_model(Params(copy.deepcopy(config)), str(tmp_path / "run"), recover=True)

    assert fits == [2]
    load_archive(tmp_path / "run" / "model.tar.gz")


def test_vectors_are_refused_for_a_biLM_that_is_trained_already() -> None:
    with pytest.raises(RuntimeError, match="start_from_vectors is for a biLM of random weights"):
        shrunk("continue", "{ start_from_vectors: 'fixtures/vectors.txt' }")

import copy
from pathlib import Path

import numpy
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import load_archive

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.language_model import vector_start
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.vector_start import (
    FileVectors,
    VectorFit,
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

    fit_characters(bilm.char_cnn, VectorFit.of(given, vocabulary(), 50), 150)

    assert before < 0.2
    assert explained(bilm, WORDS, given.vectors) > 0.9
    assert explained(bilm, [word.capitalize() for word in WORDS], given.vectors) > 0.9
    assert all(tensor.grad is None for tensor in bilm.parameters())


def test_the_loss_is_one_for_vectors_of_zeros_and_zero_for_the_vectors_themselves() -> None:
    given = words(4).standardized(6)
    fit = VectorFit.of(given, vocabulary(), 50)
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
    fit = VectorFit.of(words(4), vocabulary(), 50)

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


def test_words_with_blanks_are_left_out_and_the_number_of_words_is_bounded(
    tmp_path: Path,
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("sea 1 2\n. . . 3 4\nboat 5 6\nrope 7 8\n")

    read = read_word_vectors(str(path), 2)

    assert read.words == ["sea", "boat"]
    assert read.vectors.tolist() == [[1, 2], [5, 6]]


def test_a_file_without_vectors_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    for content, problem in (
        ("sea\n", ":1: "),
        ("sea 1 2\n", " has 1 word vec"),
    ):
        path.write_text(content)
        with pytest.raises(ValueError, match=f"vectors.txt{problem}"):
            read_word_vectors(str(path), 100)


VECTOR_LOSS = VectorFit.loss


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


def train(folder: Path, changes: str, stop_at: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Trains until `stop_at`, then recovers; returns the number of batches of each start."""
    file = folder / "vectors.txt"
    file.write_text(Path("fixtures/vectors.txt").read_text(encoding="utf-8"))
    config = shrunk(
        "base",
        f"{{ start_from_vectors: '{file}', trainer+: {{ callbacks+: ['stop'] }}, {changes} }}",
    )
    starts: list[int] = []

    def start(cnn: CharCnn, fit: VectorFit, num_batches: int) -> None:
        starts.append(num_batches)
        fit_characters(cnn, fit, num_batches)

    monkeypatch.setattr(vector_start, "fit_characters", start)
    monkeypatch.setenv(STOP_AT, stop_at)
    with pytest.raises(Stopped):
        train_model(Params(copy.deepcopy(config)), str(folder / "run"))
    monkeypatch.delenv(STOP_AT)
    if "vector_weight: 0" in changes:
        file.unlink()
    train_model(Params(copy.deepcopy(config)), str(folder / "run"), recover=True)
    return starts


def test_a_recovered_training_does_not_start_again_and_an_archive_needs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert train(tmp_path, "vector_weight: 0", "1:1", monkeypatch) == [2]
    load_archive(tmp_path / "run" / "model.tar.gz")


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Returns a list that gets the number of words of each loss of the vectors."""
    drawn: list[int] = []

    def loss(fit: VectorFit, cnn: CharCnn, num_words: int) -> torch.Tensor:
        drawn.append(num_words)
        return VECTOR_LOSS(fit, cnn, num_words)

    monkeypatch.setattr(VectorFit, "loss", loss)
    return drawn


def test_the_vectors_are_learnt_beside_the_language_model_also_after_a_recovery(
    losses: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tmp_path, "num_vector_words: 7", "1:1", monkeypatch)

    # Two batches of the start, and one batch of training until the stop.
    assert losses[:3] == [512, 512, 7]
    assert len(losses) > 3 and set(losses[3:]) == {7}


def test_a_continued_biLM_goes_on_learning_the_vectors_from_where_it_was(
    losses: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*args: object) -> None:
        raise AssertionError("the CNN or the softmax begins anew")

    monkeypatch.setattr(vector_start, "fit_characters", start)
    monkeypatch.setattr(vector_start, "begin_softmax", start)

    config = shrunk(
        "continue",
        "{ start_from_vectors: 'fixtures/vectors.txt', num_vector_batches: 0,"
        "  num_vector_words: 7 }",
    )
    train_model(Params(config), str(tmp_path / "run"))

    assert losses and set(losses) == {7}

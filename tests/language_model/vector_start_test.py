import copy
from pathlib import Path

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import load_archive

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.language_model import vector_start
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.vector_fit import VectorFit, fit_characters
from elmo_tasks.language_model.vector_start import begin_softmax
from tests.helpers.language_model_configs import shrunk
from tests.helpers.stop_callback import STOP_AT, Stopped
from tests.language_model.vector_fit_test import WORDS, words

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

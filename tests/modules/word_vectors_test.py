from pathlib import Path

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.modules import TokenEmbedder

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.modules.word_vectors import WordVectors

WORDS = ("Owl", "owl", "OWL", "Barn", "zzz")
VOCAB = Vocabulary({"tokens": dict.fromkeys(WORDS, 1)})


def built(path: Path | None, dim: int = 2) -> TokenEmbedder:
    params: dict = {"type": "elmo_word_vectors", "embedding_dim": dim}
    if path is not None:
        params["pretrained_file"] = str(path)
    return TokenEmbedder.from_params(Params(params), vocab=VOCAB)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    # The third word has a space in it, as some of GloVe 840B have.
    path.write_text("Owl 1 2\nowl 3 4\n. . 5 6\nbarn 7 8\nother 9 9\n")
    return path


def test_word_has_its_vector_or_that_of_its_lower_case_or_zeros(file: Path) -> None:
    ids = torch.tensor([[VOCAB.get_token_index(word) for word in WORDS] + [0, 1]])

    vectors = built(file)(ids)[0].tolist()

    assert vectors == [[1, 2], [3, 4], [3, 4], [7, 8], [0, 0], [0, 0], [0, 0]]


def test_vectors_are_not_trained_and_are_saved(file: Path) -> None:
    embedder, other = built(file), built(None)
    was_empty = not other.state_dict()["weight"].any()

    other.load_state_dict(embedder.state_dict())

    assert was_empty
    assert not any(parameter.requires_grad for parameter in embedder.parameters())
    assert other.get_output_dim() == 2 and other.state_dict()["weight"].any()


def test_a_file_that_does_not_fit_is_refused(file: Path) -> None:
    with pytest.raises(ConfigurationError, match="2 numbers, not 3"):
        built(file, dim=3)
    file.write_text("newt 1 2\n")
    with pytest.raises(
        ConfigurationError, match="vectors.txt has no vector for any word of the text"
    ):
        built(file)


def test_the_words_of_the_text_count_not_those_that_the_file_brings(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def built_for(*words: str) -> None:
        counter = {"tokens": dict.fromkeys(words, 1)}
        files = {"tokens": str(file)}
        vocab = Vocabulary(counter, pretrained_files=files, min_pretrained_embeddings={"tokens": 5})
        WordVectors(vocab, 2, str(file))

    built_for("Barn", "zzz")
    assert "has vectors for only" not in caplog.text
    built_for("Barn", "zzz", "yyy")
    assert f"{file} has vectors for only 1 of the 3 words: are they of the same" in caplog.text
    with pytest.raises(
        ConfigurationError, match="vectors.txt has no vector for any word of the text"
    ):
        built_for("zzz", "yyy")


def extended(*words: str) -> Vocabulary:
    vocab = Vocabulary({"tokens": dict.fromkeys(WORDS, 1)})
    vocab.add_tokens_to_namespace(list(words))
    return vocab


def test_new_word_has_the_row_of_its_lower_case_or_zeros(file: Path) -> None:
    embedder = built(file)
    before = embedder.weight.clone()

    embedder.extend_vocab(extended("oWL", "ZZZ", "Newt"))

    assert torch.equal(embedder.weight[: len(before)], before)
    weight = embedder.weight
    embedder.extend_vocab(VOCAB, "nowhere.txt")
    assert embedder.weight is weight
    assert embedder.weight[len(before) :].tolist() == [[3, 4], [0, 0], [0, 0]]
    assert not embedder.weight.requires_grad


def test_new_word_has_its_vector_in_the_file_that_is_given(file: Path) -> None:
    embedder = built(file)
    num_rows = len(embedder.weight)

    embedder.extend_vocab(extended("other", "Barn owl", "OtheR"), str(file))

    assert embedder.weight[num_rows:].tolist() == [[9, 9], [0, 0], [9, 9]]

from copy import deepcopy

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.modules import TokenEmbedder

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.modules.character_cnn import CharacterCnn
from tests.helpers.gradients import results

CHARACTERS = "abcdefg"
VOCAB = Vocabulary({"token_characters": dict.fromkeys(CHARACTERS, 1)})


def built(width: int = 3, max_characters: int = 6) -> CharacterCnn:
    torch.manual_seed(0)
    cnn = TokenEmbedder.by_name("elmo_character_cnn")(
        vocab=VOCAB, embedding_dim=4, num_filters=5, width=width, max_characters=max_characters
    )
    # The vectors are large enough for some windows to be above zero.
    cnn.embedding.weight.data.mul_(100)
    return cnn.double().eval()


def ids(*words: str, characters: int | None = None) -> torch.Tensor:
    """Returns the ids of the characters: shape (1, words, characters)."""
    longest = characters or max(map(len, words))
    indices = [[VOCAB.get_token_index(c, "token_characters") for c in word] for word in words]
    return torch.tensor([[row + [0] * (longest - len(row)) for row in indices]])


def by_hand(cnn: CharacterCnn, word: str) -> torch.Tensor:
    row = ids(word[: cnn.max_characters], characters=cnn.max_characters)[0, 0]
    x, width = cnn.embedding.weight[row], cnn.convolution.kernel_size[0]
    best = torch.zeros(5, dtype=x.dtype)
    for start in range(min(len(word), cnn.max_characters - width + 1)):
        window = torch.einsum("wd,fdw->f", x[start : start + width], cnn.convolution.weight)
        best = torch.maximum(best, window + cnn.convolution.bias)
    return best


@pytest.mark.parametrize("width", [1, 3, 5, 6])
def test_vector_is_the_largest_window_that_begins_in_the_word(width: int) -> None:
    cnn = built(width)
    words = ["a", "gab", "abcdef", "abcdefgfedcba", "a"]

    vectors = cnn(ids(*words))

    for word, vector in zip(words, vectors[0], strict=True):
        torch.testing.assert_close(vector, by_hand(cnn, word))


def test_padding_is_zeros() -> None:
    assert not built()(ids("bad", ""))[0, 1].any()


def test_dropout_is_on_the_characters_in_training_alone() -> None:
    cnn = built()
    words = ids("bad", "cab", "bad")

    without = [cnn(words) for _ in range(2)]
    cnn.train()
    one, other = cnn(words), cnn(words)

    assert torch.equal(*without)
    assert not torch.equal(one, other)
    # All occurrences of a word have one mask.
    assert torch.equal(one[0, 0], one[0, 2])


def test_gradients_reach_the_characters_and_not_the_padding() -> None:
    cnn = built()

    cnn(ids("bad", "c")).sum().backward()

    assert cnn.embedding.weight.grad is not None
    assert not cnn.embedding.weight.grad[0].any() and cnn.embedding.weight.grad.any()


def test_a_window_wider_than_a_word_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least the width of a window, 5, not 3"):
        built(5, 3)


SETTINGS = {
    "embedding": {"embedding_dim": 3, "num_embeddings": 9},
    "encoder": {"type": "cnn", "embedding_dim": 3, "num_filters": 4, "ngram_filter_sizes": [2]},
}


@pytest.mark.parametrize("dropout", [0, 0.5])
def test_output_and_gradients_are_those_of_allennlps(dropout: float) -> None:
    theirs, ours = (
        TokenEmbedder.from_params(
            Params(deepcopy({"type": name, "dropout": dropout, **SETTINGS})), vocab=Vocabulary()
        )
        for name in ("character_encoding", "elmo_character_encoding")
    )
    ours.load_state_dict(theirs.state_dict())
    words = torch.tensor([[1, 2, 3], [4, 5, 0], [1, 2, 3], [0, 0, 0], [8, 7, 0], [4, 5, 0]])
    found = []

    for embedder in (theirs, ours):
        torch.manual_seed(0)
        found.append(results(embedder, words.view(2, 3, 3)))

    torch.testing.assert_close(*found)


def test_new_characters_have_the_vector_of_the_unknown_one() -> None:
    cnn = built()
    vocab = Vocabulary({"token_characters": dict.fromkeys(CHARACTERS, 1)})
    unknown = ids("baz")
    before = cnn(unknown)

    vocab.add_token_to_namespace("z", "token_characters")
    cnn.extend_vocab(vocab)
    new = unknown.clone()
    new[new == 1] = vocab.get_token_index("z", "token_characters")

    assert new.max() == len(CHARACTERS) + 2
    assert cnn.embedding.num_embeddings == vocab.get_vocab_size("token_characters")
    assert torch.equal(cnn(new), before) and torch.equal(cnn(unknown), before)
    assert cnn.embedding.weight.requires_grad

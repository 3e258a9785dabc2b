import pickle
from collections import defaultdict
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import (
    ELMoTokenCharactersIndexer,
    TokenCharactersIndexer,
)
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.characters import fitted_char_ids
from elmo_tasks.readers.indexers import CharIdsIndexer, WordCharactersIndexer

SENTENCES = [["It", "was", "good"], ["<S>", "¡", "x" * 60, "", "so", "</S>"], ["good"]]


def char_ids(indexer: TokenIndexer) -> torch.Tensor:
    fields = [TextField([Token(word) for word in words], {"elmo": indexer}) for words in SENTENCES]
    batch = Batch([Instance({"tokens": field}) for field in fields])
    batch.index_instances(Vocabulary())
    return batch.as_tensor_dict()["tokens"]["elmo"]["elmo_tokens"]


def test_char_ids_of_a_batch_are_those_of_allennlps_indexer_with_long_words_whole() -> None:
    found = char_ids(CharIdsIndexer())

    assert found.shape == (3, 6, 63)
    assert torch.equal(fitted_char_ids(found, 50), char_ids(ELMoTokenCharactersIndexer()))


def test_empty_text_has_padding_only() -> None:
    indexer = TokenIndexer.by_name("elmo_char_ids")()

    tensors = indexer.as_padded_tensor_dict(indexer.get_empty_token_list(), {"elmo_tokens": 2})

    assert torch.equal(tensors["elmo_tokens"], torch.zeros(2, 50, dtype=torch.long))


def test_an_indexer_that_read_text_is_equal_to_a_new_one_and_is_sent_without_the_words() -> None:
    indexer = CharIdsIndexer()
    unused = len(pickle.dumps(indexer))
    char_ids(indexer)

    assert indexer == CharIdsIndexer()
    assert len(pickle.dumps(indexer)) == unused


VOCAB = Vocabulary({"tokens": {"owl": 1}, "labels": {"owl": 1}})


def ids(kind: str, *words: str, **params: str | None) -> list[int]:
    indexer = TokenIndexer.from_params(Params({"type": kind, **params}))
    return indexer.tokens_to_indices([Token(word, text_id=7) for word in words], VOCAB)["tokens"]


@pytest.mark.parametrize("kind", ["elmo_word_id", "elmo_folded_id", "elmo_known_case_id"])
def test_a_word_is_never_padding(kind: str) -> None:
    unknown, owl, padding, named_unknown = ids(kind, "emu", "owl", "@@PADDING@@", "@@UNKNOWN@@")

    assert padding == named_unknown == unknown == VOCAB.get_token_index("emu") == 1
    assert owl == VOCAB.get_token_index("owl")


def test_an_id_that_a_token_has_already_stays() -> None:
    assert ids("elmo_word_id", "owl", "emu", namespace=None, feature_name="text_id") == [7, 7]


def characters(indexer: TokenIndexer, words: list[str]) -> list[list[int]]:
    """Returns the ids of the characters of each word, padded as in a batch."""
    vocab = Vocabulary({"token_characters": {"o": 3, "w": 2, "l": 1}})
    field = TextField(list(map(Token, words)), {"characters": indexer})
    field.index(vocab)
    tensors = field.as_tensor(field.get_padding_lengths())
    return tensors["characters"]["token_characters"].tolist()


def test_of_a_word_the_first_50_characters_are_read() -> None:
    indexer = WordCharactersIndexer(min_padding_length=5)
    counter: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    owl = [2, 3, 4, 0, 0]
    assert characters(indexer, ["owl", "w"]) == [owl, [3, 0, 0, 0, 0]]
    # All words are padded to the longest of a batch.
    cut = characters(indexer, ["owl", "o" * 49 + "w" * 100_000])
    assert cut == [owl + [0] * 45, [2] * 49 + [3]]
    indexer.count_vocab_items(Token("é" * 50 + "x"), counter)
    assert counter == {"token_characters": {"é": 50}}


@given(words=st.lists(st.text(alphabet="owlé\ud800", min_size=1, max_size=50), min_size=1))
def test_words_of_up_to_50_characters_have_the_ids_of_allennlps_indexer(words: list[str]) -> None:
    ours = WordCharactersIndexer(min_padding_length=5)

    theirs = TokenCharactersIndexer(min_padding_length=5)
    assert characters(ours, words) == characters(theirs, words)


# The parameters of an indexer, words, their counts, and the words of the vocabulary that are found.
COUNTED = [
    (
        {"type": "elmo_folded_id", "lowercase_tokens": True},
        "1996 1997 10-K Oslo oslo",
        {"0000": 2, "00-k": 1, "oslo": 2},
        "0000 0000 00-k oslo oslo",
    ),
    (
        {"type": "elmo_known_case_id"},
        "Owl owl OWL 7",
        {"Owl": 1, "owl": 3, "OWL": 1, "7": 1},
        "Owl owl OWL 7",
    ),
    ({"type": "elmo_known_case_id", "lowercase_tokens": True}, "Owl owl", {"owl": 2}, "owl owl"),
]


@pytest.mark.parametrize(("params", "words", "counts", "found"), COUNTED)
def test_words_are_counted_and_found_in_one_form(
    params: dict[str, Any], words: str, counts: dict[str, int], found: str
) -> None:
    indexer = TokenIndexer.from_params(Params({**params, "namespace": "words"}))
    counter: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    tokens = list(map(Token, words.split()))
    for token in tokens:
        indexer.count_vocab_items(token, counter)
    vocab = Vocabulary(counter)

    indices = indexer.tokens_to_indices(tokens, vocab)["tokens"]

    assert counter == {"words": counts}
    assert [vocab.get_token_from_index(index, "words") for index in indices] == found.split()
    # The token keeps its text for other indexers.
    assert [token.text for token in tokens] == words.split()


def test_a_word_that_the_vocabulary_lacks_is_its_lower_case_or_unknown() -> None:
    vocab = Vocabulary({"tokens": {"Owl": 1, "owl": 1, "barn": 1, "Newt": 1}})
    indexer = TokenIndexer.by_name("elmo_known_case_id")()
    words = list(map(Token, "Owl OWL owl Barn Emu Newt".split()))

    ids = indexer.tokens_to_indices(words, vocab)["tokens"]

    found = [vocab.get_token_from_index(index) for index in ids]
    assert found == "Owl owl owl barn @@UNKNOWN@@ Newt".split()

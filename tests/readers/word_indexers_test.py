from collections import defaultdict
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_tasks.readers.text_reader import TextReader
from elmo_tasks.readers.word_indexers import FoldedIdTokenIndexer

VOCAB = Vocabulary({"tokens": {"owl": 1}, "labels": {"owl": 1}})


def ids(kind: str, *words: str, **params: str | None) -> list[int]:
    indexer = TokenIndexer.from_params(Params({"type": kind, **params}))
    return indexer.tokens_to_indices([Token(word, text_id=7) for word in words], VOCAB)["tokens"]


@pytest.mark.parametrize("kind", ["elmo_folded_id", "elmo_known_case_id"])
def test_a_word_is_never_padding(kind: str) -> None:
    unknown, owl, padding, named_unknown = ids(kind, "emu", "owl", "@@PADDING@@", "@@UNKNOWN@@")

    assert padding == named_unknown == unknown == VOCAB.get_token_index("emu") == 1
    assert owl == VOCAB.get_token_index("owl")


def test_our_readers_read_a_single_id_so() -> None:
    indexer = SingleIdTokenIndexer(namespace=None, feature_name="text_id")

    reader = TextReader({"tokens": SingleIdTokenIndexer(), "other": indexer})

    tokens = [Token("owl", text_id=7), Token("@@PADDING@@", text_id=8)]
    assert reader.token_indexers["tokens"].tokens_to_indices(tokens, VOCAB)["tokens"] == [2, 1]
    assert indexer.tokens_to_indices(tokens, VOCAB)["tokens"] == [7, 8]


def test_words_are_counted_and_found_with_their_digits_folded() -> None:
    params = Params({"type": "elmo_folded_id", "lowercase_tokens": True})

    indexer = TokenIndexer.from_params(params)

    assert isinstance(indexer, FoldedIdTokenIndexer)

    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    words = [Token(text) for text in ("1996", "1997", "10-K", "Oslo", "oslo")]
    for word in words:
        indexer.count_vocab_items(word, counts)

    assert counts == {"tokens": {"0000": 2, "00-k": 1, "oslo": 2}}

    vocab = Vocabulary(counts)
    indices = indexer.tokens_to_indices(words, vocab)["tokens"]
    names = [vocab.get_token_from_index(index) for index in indices]

    assert names == ["0000", "0000", "00-k", "oslo", "oslo"]
    # The token keeps its text for other indexers.
    assert words[0].text == "1996"


def built(**params: Any) -> TokenIndexer:
    return TokenIndexer.from_params(Params({"type": "elmo_known_case_id", **params}))


def counted(indexer: TokenIndexer, *words: str) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for word in words:
        indexer.count_vocab_items(Token(word), counts)
    return counts


def test_word_and_its_lower_case_are_counted() -> None:
    counts = counted(built(), "Owl", "owl", "OWL", "7")

    assert counts == {"tokens": {"Owl": 1, "owl": 3, "OWL": 1, "7": 1}}


@pytest.mark.parametrize(
    ("word", "found"),
    [("Owl", "Owl"), ("OWL", "owl"), ("owl", "owl"), ("Barn", "barn"), ("Emu", "@@UNKNOWN@@")],
)
def test_word_that_the_vocabulary_lacks_is_its_lower_case_or_unknown(word: str, found: str) -> None:
    vocab = Vocabulary({"tokens": {"Owl": 1, "owl": 1, "barn": 1, "Newt": 1}})

    ids = built().tokens_to_indices([Token(word), Token("Newt")], vocab)["tokens"]

    assert [vocab.get_token_from_index(index) for index in ids] == [found, "Newt"]


def test_every_word_is_in_lower_case_where_the_config_says_so() -> None:
    indexer = built(lowercase_tokens=True, namespace="words")
    vocab = Vocabulary({"words": {"Owl": 1, "owl": 1}})

    assert counted(indexer, "Owl", "owl") == {"words": {"owl": 2}}

    ids = indexer.tokens_to_indices([Token("Owl")], vocab)["tokens"]

    assert vocab.get_token_from_index(ids[0], "words") == "owl"

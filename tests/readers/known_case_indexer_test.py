from collections import defaultdict
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary


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

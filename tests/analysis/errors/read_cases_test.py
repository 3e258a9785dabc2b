import pytest
from allennlp.data import Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, SingleIdTokenIndexer

from elmo_tasks.analysis.errors.read_cases import _count
from elmo_tasks.readers.indexers import FoldedIdTokenIndexer, KnownCaseTokenIndexer

VOCAB = Vocabulary(tokens_to_add={"tokens": ["two", "men", "Rome", "0000"]})
WORDS = ["Two", "men", "Rome", "rome", "Ducks", "1996", "two", "cats"]


@pytest.mark.parametrize(
    ("indexer", "unknown"),
    [
        (SingleIdTokenIndexer(), {"Two", "rome", "Ducks", "1996", "cats"}),
        (SingleIdTokenIndexer(lowercase_tokens=True), {"Rome", "rome", "Ducks", "1996", "cats"}),
        (KnownCaseTokenIndexer(), {"rome", "Ducks", "1996", "cats"}),
        (FoldedIdTokenIndexer(), {"Two", "rome", "Ducks", "cats"}),
        (ELMoTokenCharactersIndexer(), set()),
    ],
)
def test_words_are_unknown_that_the_indexer_takes_as_the_unknown_word(
    indexer: TokenIndexer, unknown: set[str]
) -> None:
    field = TextField([Token(word) for word in WORDS], {"words": indexer})

    assert _count(Instance({"tokens": field}), VOCAB) == (8, len(unknown))

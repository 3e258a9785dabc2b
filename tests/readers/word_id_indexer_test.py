import pytest
from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary

VOCAB = Vocabulary({"tokens": {"owl": 1}, "labels": {"owl": 1}})


def ids(kind: str, *words: str, **params: str | None) -> list[int]:
    indexer = TokenIndexer.from_params(Params({"type": kind, **params}))
    return indexer.tokens_to_indices([Token(word, text_id=7) for word in words], VOCAB)["tokens"]


@pytest.mark.parametrize("kind", ["single_id", "elmo_folded_id", "elmo_known_case_id"])
def test_a_word_is_never_padding(kind: str) -> None:
    unknown, owl, padding, named_unknown = ids(kind, "emu", "owl", "@@PADDING@@", "@@UNKNOWN@@")

    assert padding == named_unknown == unknown == VOCAB.get_token_index("emu") == 1
    assert owl == VOCAB.get_token_index("owl")


def test_other_features_and_namespaces_have_the_ids_of_allennlp() -> None:
    assert ids("single_id", "owl", namespace=None, feature_name="text_id") == [7]
    assert ids("single_id", "owl", namespace="labels") == [0]

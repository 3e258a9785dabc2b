from collections import defaultdict

from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary

from elmo_tasks.readers.folded_indexer import FoldedIdTokenIndexer


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

import re

from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.token_indexers.token_indexer import IndexedTokenList


class WordIdIndexer(SingleIdTokenIndexer):
    """
    AllenNLP's `single_id`, except that a word of a text is never padding. The word `@@PADDING@@`,
    the name of padding in a vocabulary, gets the id of unknown words. AllenNLP's indexer gives this
    word the id of padding, so models leave it out of the text.

    Our readers use it wherever a config has a "single_id". It has the parameters of
    `SingleIdTokenIndexer`.
    """

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        indices = super().tokens_to_indices(tokens, vocabulary)["tokens"]
        if self.namespace is not None:
            known = vocabulary.get_token_to_index_vocabulary(self.namespace)
            padding = known.get(vocabulary._padding_token)
            if padding in indices:
                unknown = known[vocabulary._oov_token]
                indices = [unknown if index == padding else index for index in indices]
        return {"tokens": indices}


@TokenIndexer.register("elmo_folded_id")
class FoldedIdTokenIndexer(WordIdIndexer):
    """
    Replaces each digit by 0 and then indexes words as AllenNLP's `single_id` does, so 1996 and 1997
    get the same id. The word vectors of Senna (Collobert et al. 2011) need this, and lower case as
    well (`lowercase_tokens`).

    Registered as a `TokenIndexer` with name "elmo_folded_id". It has the parameters of
    `SingleIdTokenIndexer`.
    """

    def _get_feature_value(self, token: Token) -> str:
        return re.sub("[0-9]", "0", super()._get_feature_value(token))


@TokenIndexer.register("elmo_known_case_id")
class KnownCaseTokenIndexer(WordIdIndexer):
    """
    Indexes words as AllenNLP's `single_id` does, except that a word outside the vocabulary gets the
    id of its lower case. It is meant for a vocabulary that has only the words of a vector file
    (`only_include_pretrained_words`). Every word then has its own vector or the vector of its lower
    case, as with the embedder `elmo_word_vectors`, even if the training text lacks the word.

    Registered as a `TokenIndexer` with name "elmo_known_case_id".

    # Parameters

    namespace (default `'tokens'`)
    lowercase_tokens (default `False`): Whether every word is looked up in lower case.
    """

    def __init__(self, namespace: str = "tokens", lowercase_tokens: bool = False) -> None:
        super().__init__(namespace, lowercase_tokens)

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Counts a word, and also the word in lower case if it is different."""
        super().count_vocab_items(token, counter)
        lower = token.text.lower()
        if not self.lowercase_tokens and lower != token.text:
            super().count_vocab_items(Token(lower), counter)

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        known = vocabulary.get_token_to_index_vocabulary(self.namespace)
        found = [token if token.text in known else Token(token.text.lower()) for token in tokens]
        return super().tokens_to_indices(found, vocabulary)

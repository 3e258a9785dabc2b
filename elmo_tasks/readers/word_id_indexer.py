from allennlp.data import Token, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.token_indexers.token_indexer import IndexedTokenList


class WordIdIndexer(SingleIdTokenIndexer):
    """
    AllenNLP's `single_id`, except that a word of a text is never padding. The word `@@PADDING@@`,
    the name of padding in a vocabulary, gets the id of unknown words. AllenNLP's indexer gives this
    word the id of padding, so models leave it out of the text.

    `in_allennlp/install.py` registers it as a `TokenIndexer` with name "single_id". It has the
    parameters of `SingleIdTokenIndexer`.
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

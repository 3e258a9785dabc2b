from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers.token_indexer import IndexedTokenList

from elmo_tasks.readers.word_id_indexer import WordIdIndexer


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

import re

import torch
from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer, TokenCharactersIndexer
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from torch.nn.functional import pad

from elmo_tasks.common.characters import MAX_CHARACTERS, batch_char_ids, num_characters

# The name of the number of characters a token among the padding lengths of a batch.
_CHARACTERS = "elmo_characters"


@TokenIndexer.register("elmo_char_ids")
class CharIdsIndexer(TokenIndexer):
    """
    Gives the same char ids as AllenNLP's `elmo_characters`, but only when a batch is made. Until
    then, an indexed text is a list of words. With AllenNLP's indexer, each token of the data takes
    two kilobytes of memory.

    A batch with a word of more than 47 bytes has more than 50 char ids for each token (see
    `num_characters`). A biLM of this package cuts them to the number in its options. AllenNLP's own
    `elmo_token_embedder` needs `elmo_characters`.

    Registered as a `TokenIndexer` with name "elmo_char_ids".
    """

    def __init__(self) -> None:
        super().__init__()

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Counts nothing: characters need no vocabulary."""

    def get_empty_token_list(self) -> dict[str, list[str]]:
        return {"elmo_tokens": []}

    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary | None
    ) -> dict[str, list[str]]:
        """Returns the words themselves under `elmo_tokens`."""
        return {"elmo_tokens": [token.ensure_text() for token in tokens]}

    def get_padding_lengths(self, indexed_tokens: dict[str, list[str]]) -> dict[str, int]:
        """Returns the number of tokens, and the number of char ids that each token needs."""
        words = indexed_tokens["elmo_tokens"]
        return {"elmo_tokens": len(words), _CHARACTERS: num_characters([words])}

    def as_padded_tensor_dict(
        self, tokens: dict[str, list[str]], padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """Returns char ids of shape (padded length, characters), with zeros at padding."""
        words, length = tokens["elmo_tokens"], padding_lengths["elmo_tokens"]
        (char_ids,) = batch_char_ids(
            [words[:length]], padding_lengths.get(_CHARACTERS, MAX_CHARACTERS)
        )
        return {"elmo_tokens": pad(char_ids, (0, 0, 0, length - len(char_ids)))}


@TokenIndexer.register("elmo_word_characters")
class WordCharactersIndexer(TokenCharactersIndexer):
    """
    Works as AllenNLP's `characters`, but reads only the first 50 characters of a word, about as
    many as a biLM reads. AllenNLP's indexer pads all words of a batch to the longest word. One word
    of 100,000 characters among 5,000 words then takes gigabytes.

    Registered as a `TokenIndexer` with name "elmo_word_characters". It has the parameters of
    `TokenCharactersIndexer`.
    """

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        super().count_vocab_items(_cut_word(token), counter)

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        return super().tokens_to_indices(list(map(_cut_word, tokens)), vocabulary)


def _cut_word(token: Token) -> Token:
    text = token.ensure_text()
    return token if len(text) <= MAX_CHARACTERS else Token(text[:MAX_CHARACTERS])


@TokenIndexer.register("elmo_word_id")
class WordIdIndexer(SingleIdTokenIndexer):
    """
    Works as AllenNLP's `single_id`, but gives the word `@@PADDING@@` the id of unknown words.
    `@@PADDING@@` is the name of padding in a vocabulary, so AllenNLP's indexer gives a word of this
    name the id of padding, and models skip it.

    Registered as a `TokenIndexer` with name "elmo_word_id". It has the parameters of
    `SingleIdTokenIndexer`.
    """

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        indices = super().tokens_to_indices(tokens, vocabulary)["tokens"]
        if self.namespace is not None:
            ids = vocabulary.get_token_to_index_vocabulary(self.namespace)
            padding = ids.get(vocabulary._padding_token)
            if padding in indices:
                unknown = ids[vocabulary._oov_token]
                indices = [unknown if index == padding else index for index in indices]
        return {"tokens": indices}


@TokenIndexer.register("elmo_folded_id")
class FoldedIdTokenIndexer(WordIdIndexer):
    """
    Replaces each digit by 0 and then indexes words as AllenNLP's `single_id` does, so 1996 and 1997
    get the same id. For the word vectors of Senna (Collobert et al. 2011), also set
    `lowercase_tokens`.

    Registered as a `TokenIndexer` with name "elmo_folded_id". It has the parameters of
    `SingleIdTokenIndexer`.
    """

    def _get_feature_value(self, token: Token) -> str:
        return re.sub("[0-9]", "0", super()._get_feature_value(token))


@TokenIndexer.register("elmo_known_case_id")
class KnownCaseTokenIndexer(WordIdIndexer):
    """
    Indexes words as AllenNLP's `single_id` does, except that a word outside the vocabulary gets the
    id of its lower case. Use it with a vocabulary that has only the words of a vector file
    (`only_include_pretrained_words`). Every word then has its own vector or the vector of its lower
    case, as with the embedder `elmo_word_vectors`, even a word that the training text lacks.

    Registered as a `TokenIndexer` with name "elmo_known_case_id". It has the parameters of
    `SingleIdTokenIndexer`.
    """

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Counts a word, and also the word in lower case if it is different."""
        super().count_vocab_items(token, counter)
        lower = token.text.lower()
        if not self.lowercase_tokens and lower != token.text:
            super().count_vocab_items(Token(lower), counter)

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        ids = vocabulary.get_token_to_index_vocabulary(self.namespace)
        forms = [token if token.text in ids else Token(token.text.lower()) for token in tokens]
        return super().tokens_to_indices(forms, vocabulary)

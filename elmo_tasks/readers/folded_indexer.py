import re

from allennlp.data import Token, TokenIndexer

from elmo_tasks.readers.word_id_indexer import WordIdIndexer


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

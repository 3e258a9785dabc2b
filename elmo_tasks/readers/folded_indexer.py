import re

from allennlp.data import Token, TokenIndexer
from allennlp.data.token_indexers import SingleIdTokenIndexer


@TokenIndexer.register("elmo_folded_id")
class FoldedIdTokenIndexer(SingleIdTokenIndexer):
    """
    AllenNLP's `single_id` with every digit of a word as 0, so that 1996 and 1997 are one word; as
    the list of Senna (Collobert et al. 2011) has them, which is in lower case besides.

    Registered as a `TokenIndexer` with name "elmo_folded_id"; its parameters are AllenNLP's.
    """

    def _get_feature_value(self, token: Token) -> str:
        return re.sub("[0-9]", "0", super()._get_feature_value(token))

from allennlp.data import Vocabulary
from allennlp.data.fields import SequenceLabelField, TextField

# The index of a tag that the training data lacks. No model predicts it.
UNKNOWN_TAG = -1


class PlainTagsField(SequenceLabelField):
    """
    The tags of a sentence, where any tag may follow any other. A tag that the vocabulary lacks gets
    the index `UNKNOWN_TAG`, because rare tags, such as those of `feats`, may occur only in
    validation data.

    # Parameters

    tags: A tag for each token.
    tokens: The sentence.
    """

    def __init__(self, tags: list[str], tokens: TextField) -> None:
        super().__init__(tags, tokens)

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        self._indexed_labels = [known.get(tag, UNKNOWN_TAG) for tag in self.labels]

import logging
from functools import cache

from allennlp.data import Vocabulary

from elmo_tasks.readers.entities import split_tag
from elmo_tasks.readers.tags_field import TagsField

logger = logging.getLogger(__name__)

# The index of a tag that the vocabulary lacks.
UNKNOWN_TAG = -100


class RoleTagsField(TagsField):
    """
    The tags of a sentence for one predicate. In the official data sets, the test data has roles
    that the training data lacks. A tag of such a role gets the index `UNKNOWN_TAG`, and the role is
    logged once. The parameters are those of `TagsField`.
    """

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        for tag in self.labels:
            if tag not in known:
                _warn(split_tag(tag)[1])
        self._indexed_labels = [known.get(tag, UNKNOWN_TAG) for tag in self.labels]


@cache
def _warn(role: str) -> None:
    logger.warning(
        "The training data has no role %s. A model does not predict it, and each such argument "
        "counts as missed.",
        role,
    )

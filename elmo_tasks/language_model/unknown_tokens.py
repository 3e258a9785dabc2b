import logging

import torch
from allennlp.data import Vocabulary
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

from elmo_tasks.common.processes import rank
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN

logger = logging.getLogger(__name__)

# A warning is given above this share of unknown tokens.
_MOST_UNKNOWN = 0.2
# The number of tokens after which the warning may come in the middle of an epoch.
_ENOUGH_TOKENS = 20_000


class UnknownTokens(Metric):
    """
    Computes the share of a text's tokens that are not in the vocabulary. Boundaries do not count.
    All unknown tokens are one class of the softmax, which a model learns easily: a text of only
    unknown words has a perplexity near 1. If the share is above a fifth, a warning says once what
    to do.
    """

    def __init__(self, vocab: Vocabulary) -> None:
        words = vocab.get_token_to_index_vocabulary("tokens")
        self._unknown = vocab.get_token_index(vocab._oov_token, "tokens")
        bounds = [words[word] for word in (BEGIN_TOKEN, END_TOKEN) if word in words]
        self._bounds = torch.tensor(bounds, dtype=torch.long)
        self._warned = False
        self.reset()

    def __call__(self, classes: list[torch.Tensor]) -> None:  # type: ignore[override]
        """Counts the word ids that each direction predicts, of shape (words,)."""
        for ids in classes:
            is_token = ~torch.isin(ids, self._bounds.to(ids.device))
            is_unknown = is_token & (ids == self._unknown)
            self._counts += torch.stack([is_unknown.sum(), is_token.sum()]).cpu()

    def get_metric(self, reset: bool = False) -> float:
        """
        Returns the share among the tokens of this process, or with `reset` among those of all
        processes.
        """
        counts = self._counts
        if reset:
            self.reset()
            counts = dist_reduce_sum(counts).cpu()
        num_unknown, num_tokens = counts.tolist()
        share = num_unknown / max(1, num_tokens)
        if (reset or num_tokens >= _ENOUGH_TOKENS) and share > _MOST_UNKNOWN:
            self._warn(share)
        return share

    def reset(self) -> None:
        # Shape: (2,): the number of unknown tokens, the number of tokens.
        self._counts = torch.zeros(2, dtype=torch.long)

    def _warn(self, share: float) -> None:
        if not self._warned and rank().process == 0:
            logger.warning(
                "%.0f%% of the tokens are not in the vocabulary, so their perplexity is low: is "
                "the text tokenized? If so, make the vocabulary of the text's own words, with a "
                "smaller min_count or more text, and use from_bilm in place of from_archive",
                100 * share,
            )
        self._warned = True

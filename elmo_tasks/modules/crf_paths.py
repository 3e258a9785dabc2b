import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from allennlp.modules import ConditionalRandomField

from elmo_tasks.readers.entities import Entity


class BestPaths(NamedTuple):
    """
    # Parameters

    tags : `torch.LongTensor`
        Shape (batch, k, length), the best first; anything where there is padding.
    scores : `torch.Tensor`
        Shape (batch, k); minus infinity where a sentence has fewer than k paths.
    """

    tags: torch.Tensor
    scores: torch.Tensor


class CrfPaths:
    """
    All paths, which are sequences of one tag a token, through the sentences of a batch that the
    constraints of a linear-chain CRF allow. A path scores the sum of its logits and transitions,
    and its probability is proportional to the exponential of that, among these paths alone.

    AllenNLP's `ConditionalRandomField.viterbi_tags` takes sentence after sentence; here a batch
    takes each step at once.

    # Parameters

    crf : `ConditionalRandomField`
        Without transitions of its own at the start and the end.
    logits : `torch.Tensor`
        Shape (batch, length, tags).
    mask : `torch.BoolTensor`
        Shape (batch, length); padding is at the end, and each sentence has a token.
    """

    def __init__(
        self, crf: ConditionalRandomField, logits: torch.Tensor, mask: torch.Tensor
    ) -> None:
        num_tags = crf.num_tags
        scores = torch.nn.functional.pad(crf.transitions.detach().to(logits.dtype), (0, 2, 0, 2))
        # The last two rows and columns are the start and the end.
        scores = scores.masked_fill(crf._constraint_mask == 0, -torch.inf)
        self._transitions = scores[:num_tags, :num_tags]
        self._start, self._end = scores[num_tags, :num_tags], scores[:num_tags, num_tags + 1]
        self._logits, self._mask = logits.detach(), mask

    def best(self, k: int = 1) -> BestPaths:
        """The k best paths of each sentence, by Viterbi's algorithm with k paths to every tag."""
        batch_size, length, num_tags = self._logits.shape
        # Of the k best paths to each tag. Shape: (batch, k, tags)
        scores = self._logits.new_full((batch_size, k, num_tags), -torch.inf)
        scores[:, 0] = self._logits[:, 0] + self._start
        # Where each of them comes from, as rank * tags + tag: a place in a row of the one before.
        origins = []
        stay = torch.arange(k * num_tags, device=scores.device).view(k, num_tags)
        for step in range(1, length):
            # Shape: (batch, k * tags, tags)
            longer = (scores.unsqueeze(-1) + self._transitions).flatten(1, 2)
            best, origin = longer.topk(k, dim=1)
            live = self._mask[:, step, None, None]
            scores = torch.where(live, best + self._logits[:, step, None], scores)
            origins.append(torch.where(live, origin, stay).flatten(1))
        # Shape: (batch, k)
        scores, indices = (scores + self._end).flatten(1).topk(k, dim=1)
        tags = [indices % num_tags]
        for origin in reversed(origins):
            indices = origin.gather(1, indices)
            tags.append(indices % num_tags)
        return BestPaths(torch.stack(tags[::-1], dim=-1), scores)

    def log_partition(self) -> torch.Tensor:
        """The logarithm of the sum of all paths' exponentials: shape (batch,)."""
        return self._log_sum_of_paths(self._sums_before()[:, -1])

    def span_probabilities(
        self, tags: torch.Tensor, spans: Sequence[Sequence[Entity]], inside: torch.Tensor
    ) -> list[list[float]]:
        """
        The marginal probability of each entity: that exactly these tokens, and none beside them,
        are an entity of this type, whatever the tags of the other tokens are.

        # Parameters

        tags : `torch.LongTensor`
            Shape (batch, length): a path through each sentence.
        spans : `Sequence[Sequence[Entity]]`
            The entities in each path.
        inside : `torch.BoolTensor`
            Shape (tags,): whether a tag continues an entity. After the end of one it cannot stand.
        """
        before, after = self._sums_before(), self._sums_after(inside)
        # Of the path's own logits and transitions, up to each token. Shape: (batch, length)
        steps = torch.nn.functional.pad(self._transitions[tags[:, :-1], tags[:, 1:]], (1, 0))
        path = (_pick(self._logits, tags) + steps).cumsum(dim=1)
        starts = (_pick(before, tags) - path).tolist()
        ends = (_pick(after, tags) + path).tolist()
        totals = self._log_sum_of_paths(before[:, -1]).tolist()
        return [
            [_exp(starts[row][start] + ends[row][end - 1] - total) for _, start, end in entities]
            for row, (entities, total) in enumerate(zip(spans, totals))
        ]

    def _log_sum_of_paths(self, last: torch.Tensor) -> torch.Tensor:
        return (last + self._end).logsumexp(dim=1)

    def _sums_before(self) -> torch.Tensor:
        """
        The logarithm of the sum over the beginnings of paths up to each tag, its logit included;
        in padding, that of the last token. Shape (batch, length, tags).
        """
        sums = [self._logits[:, 0] + self._start]
        for step in range(1, self._logits.size(1)):
            longer = (sums[-1].unsqueeze(-1) + self._transitions).logsumexp(dim=1)
            live = self._mask[:, step, None]
            sums.append(torch.where(live, longer + self._logits[:, step], sums[-1]))
        return torch.stack(sums, dim=1)

    def _sums_after(self, inside: torch.Tensor) -> torch.Tensor:
        """
        The logarithm of the sum over the ends of paths after each tag, those alone whose next tag
        is not `inside`. Shape (batch, length, tags).
        """
        leaving = self._transitions.masked_fill(inside, -torch.inf)
        # Of all ends, and of those that leave.
        end = self._end.expand(self._logits.size(0), -1)
        after, sums = end, [end]
        for step in range(self._logits.size(1) - 1, 0, -1):
            rest = (self._logits[:, step] + after).unsqueeze(1)
            live = self._mask[:, step, None]
            sums.append(torch.where(live, (leaving + rest).logsumexp(dim=-1), end))
            after = torch.where(live, (self._transitions + rest).logsumexp(dim=-1), end)
        return torch.stack(sums[::-1], dim=1)


def _pick(values: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
    """Of shape (batch, length), from values of shape (batch, length, tags)."""
    return values.gather(-1, tags.unsqueeze(-1)).squeeze(-1)


def _exp(log_probability: float) -> float:
    return min(1.0, math.exp(log_probability))

import math
from collections.abc import Sequence

import torch
from allennlp.modules import ConditionalRandomField

from elmo_tasks.readers.entities import Entity


class CrfPaths:
    """
    The sequences of tags, called paths, that the constraints of a linear-chain CRF allow for the
    sentences of a batch. A path has one tag for each token. Its score is the sum of its logits and
    transitions, and its probability is a softmax over the scores of all these paths.

    All sentences are decoded at the same time; AllenNLP's `viterbi_tags` decodes them one by one.

    # Parameters

    crf: A CRF that was made without learned transitions at the start and the end of a sentence.
    logits: Shape (batch, length, tags).
    mask (`torch.BoolTensor`): Shape (batch, length). Padding is at the end, and each sentence has
        at least one token.
    """

    def __init__(
        self, crf: ConditionalRandomField, logits: torch.Tensor, mask: torch.Tensor
    ) -> None:
        num_tags = crf.num_tags
        scores = torch.nn.functional.pad(crf.transitions.detach().to(logits.dtype), (0, 2, 0, 2))
        # The last two rows and columns stand for the start and the end of a sentence.
        scores = scores.masked_fill(crf._constraint_mask == 0, -torch.inf)
        self._transitions = scores[:num_tags, :num_tags]
        self._start, self._end = scores[num_tags, :num_tags], scores[:num_tags, num_tags + 1]
        self._logits, self._mask = logits.detach(), mask

    def best(self) -> torch.Tensor:
        """
        Finds the best path of each sentence with Viterbi's algorithm: shape (batch, length), with
        the last tag repeated at padding.
        """
        # The score of the best path that ends in each tag. Shape: (batch, tags)
        scores = self._logits[:, 0] + self._start
        # For each step and each tag, the best tag before it.
        origins = []
        own = torch.arange(scores.size(1), device=scores.device)
        for step in range(1, self._logits.size(1)):
            best, origin = (scores.unsqueeze(-1) + self._transitions).max(dim=1)
            live = self._mask[:, step, None]
            scores = torch.where(live, best + self._logits[:, step], scores)
            origins.append(torch.where(live, origin, own))
        tags = [(scores + self._end).argmax(dim=1, keepdim=True)]
        for origin in reversed(origins):
            tags.append(origin.gather(1, tags[-1]))
        return torch.cat(tags[::-1], dim=1)

    def span_probabilities(
        self, tags: torch.Tensor, spans: Sequence[Sequence[Entity]], inside: torch.Tensor
    ) -> list[list[float]]:
        """
        Computes the marginal probability of each entity: the probability that exactly these tokens
        are an entity of this type, summed over all tags of the other tokens.

        # Parameters

        tags, spans: A path through each sentence, shape (batch, length), and the entities in it.
        inside (`torch.BoolTensor`): Shape (tags,): whether a tag continues an entity. The token
            after an entity cannot have such a tag.
        """
        before, after = self._sums_before(), self._sums_after(inside)
        # The score of the path up to each token. Shape: (batch, length)
        steps = torch.nn.functional.pad(self._transitions[tags[:, :-1], tags[:, 1:]], (1, 0))
        path = (_pick(self._logits, tags) + steps).cumsum(dim=1)
        starts = (_pick(before, tags) - path).tolist()
        ends = (_pick(after, tags) + path).tolist()
        totals = (before[:, -1] + self._end).logsumexp(dim=1).tolist()
        return [
            [
                min(1.0, math.exp(starts[row][start] + ends[row][end - 1] - total))
                for _, start, end in entities
            ]
            for row, (entities, total) in enumerate(zip(spans, totals))
        ]

    def _sums_before(self) -> torch.Tensor:
        """
        Computes, for each tag at each token, the log-sum-exp of the scores of all paths that end
        there: shape (batch, length, tags). The scores include the logit of this tag. Padding
        repeats the values of the last token.
        """
        sums = [self._logits[:, 0] + self._start]
        for step in range(1, self._logits.size(1)):
            longer = (sums[-1].unsqueeze(-1) + self._transitions).logsumexp(dim=1)
            live = self._mask[:, step, None]
            sums.append(torch.where(live, longer + self._logits[:, step], sums[-1]))
        return torch.stack(sums, dim=1)

    def _sums_after(self, inside: torch.Tensor) -> torch.Tensor:
        """
        Computes, for each tag at each token, the log-sum-exp of the scores of all paths that go on
        from there to the end of the sentence: shape (batch, length, tags). The scores leave out the
        logit of this tag. Paths whose next tag is `inside` do not count.
        """
        leaving = self._transitions.masked_fill(inside, -torch.inf)
        # `after` counts all paths to the end, and `sums` only those whose next tag is not inside.
        end = self._end.expand(self._logits.size(0), -1)
        after, sums = end, [end]
        for step in range(self._logits.size(1) - 1, 0, -1):
            sums_from = (self._logits[:, step] + after).unsqueeze(1)
            live = self._mask[:, step, None]
            sums.append(torch.where(live, (leaving + sums_from).logsumexp(dim=-1), end))
            after = torch.where(live, (self._transitions + sums_from).logsumexp(dim=-1), end)
        return torch.stack(sums[::-1], dim=1)


def _pick(values: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
    """Selects the value of each token's tag: shape (batch, length) from (batch, length, tags)."""
    return values.gather(-1, tags.unsqueeze(-1)).squeeze(-1)

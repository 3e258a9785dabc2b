import math
from collections.abc import Sequence

import torch

from elmo_tasks.readers.entities import Entity, split_tag


class BioPaths:
    """
    The allowed sequences of BIO tags of each sentence of a batch: I-X follows only B-X or I-X. The
    score of a sequence is the sum of its logits, and its probability is a softmax over the scores
    of all these sequences. Transitions have no scores, so a step takes only one maximum over the
    tags, where a step of `CrfPaths` takes one for each tag.

    # Parameters

    tag_names: `O`, and `B-X` and `I-X` for each role X, in any order.
    logits: Shape (batch, length, tags).
    mask (`torch.BoolTensor`): Shape (batch, length). Padding is at the end, and each sentence has
        at least one token.
    """

    def __init__(self, tag_names: Sequence[str], logits: torch.Tensor, mask: torch.Tensor) -> None:
        names = list(map(split_tag, tag_names))
        indices = self._tags = {name: index for index, name in enumerate(names)}
        self._inside = logits.new_tensor([prefix == "I" for prefix, _ in names]).bool()
        # For I-X the index of B-X, for any other tag its own index.
        self._begin = _indices(
            [indices["B" if prefix == "I" else prefix, role] for prefix, role in names], logits
        )
        # For B-X and I-X the index of I-X, for O its own index.
        self._continued = _indices(
            [indices["O" if prefix == "O" else "I", role] for prefix, role in names], logits
        )
        self._logits, self._mask = logits.detach(), mask

    def best(self) -> torch.Tensor:
        """
        Finds the best sequence of each sentence with Viterbi's algorithm: shape (batch, length),
        with the last tag repeated at padding.
        """
        own = torch.arange(len(self._begin), device=self._logits.device)
        scores = self._logits[:, 0].masked_fill(self._inside, -torch.inf)
        # For each step and each tag, the best tag before it.
        origins = []
        for step in range(1, self._logits.size(1)):
            best, tag = scores.max(dim=1, keepdim=True)
            # Shape: (batch, tags)
            begin_scores = scores.index_select(1, self._begin)
            origin = torch.where(begin_scores >= scores, self._begin, own)
            longer = torch.where(self._inside, torch.maximum(begin_scores, scores), best)
            live = self._mask[:, step, None]
            origins.append(torch.where(live, torch.where(self._inside, origin, tag), own))
            scores = torch.where(live, longer + self._logits[:, step], scores)
        tags = [scores.argmax(dim=1, keepdim=True)]
        for origin in reversed(origins):
            tags.append(origin.gather(1, tags[-1]))
        return torch.cat(tags[::-1], dim=1)

    def span_probabilities(self, spans: Sequence[Sequence[Entity]]) -> list[list[float]]:
        """
        Computes the marginal probability of each span of each sentence: the probability that
        exactly these tokens have this role, summed over all tags of the other tokens.
        """
        rows = zip(self._logits.cpu(), self._sums_before().tolist(), self._sums_after().tolist())
        probabilities: list[list[float]] = []
        for (logits, before, after), entities in zip(rows, spans, strict=True):
            probabilities.append([])
            for role, start, end in entities:
                inner = logits[start + 1 : end, self._tags["I", role]].sum()
                inside = (logits[start, self._tags["B", role]] + inner).item()
                log_probability = before[start] + inside + after[end] - before[-1]
                probabilities[-1].append(min(1.0, math.exp(log_probability)))
        return probabilities

    def _sums_before(self) -> torch.Tensor:
        """
        Computes for each token the log-sum-exp of the scores of all sequences for the tokens before
        it: shape (batch, length + 1). Padding repeats the value of the whole sentence.
        """
        scores = self._logits[:, 0].masked_fill(self._inside, -torch.inf)
        sums = [torch.zeros_like(scores[:, 0]), scores.logsumexp(dim=1)]
        for step in range(1, self._logits.size(1)):
            inside = torch.logaddexp(scores.index_select(1, self._begin), scores)
            longer = torch.where(self._inside, inside, sums[-1].unsqueeze(1))
            live = self._mask[:, step]
            scores = torch.where(live.unsqueeze(1), longer + self._logits[:, step], scores)
            sums.append(torch.where(live, scores.logsumexp(dim=1), sums[-1]))
        return torch.stack(sums, dim=1)

    def _sums_after(self) -> torch.Tensor:
        """
        Computes for each token the log-sum-exp of the scores of all sequences from this token on
        that do not begin with an I: shape (batch, length + 1), zeros at padding.
        """
        # The sums for the tokens after each tag. Shape: (batch, tags)
        after = torch.zeros_like(self._logits[:, 0])
        sums = [after[:, 0]]
        for step in range(self._logits.size(1) - 1, -1, -1):
            scores = self._logits[:, step] + after
            live = self._mask[:, step]
            outside = scores.masked_fill(self._inside, -torch.inf).logsumexp(dim=1)
            sums.append(torch.where(live, outside, 0))
            # This adds nothing for O: `outside` has already counted O after O.
            inside = scores.masked_fill(~self._inside, -torch.inf)
            inside = inside.index_select(1, self._continued)
            longer = torch.logaddexp(outside.unsqueeze(1), inside)
            after = torch.where(live.unsqueeze(1), longer, 0)
        return torch.stack(sums[::-1], dim=1)


def _indices(values: list[int], like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(values, device=like.device)

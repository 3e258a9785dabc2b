from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from allennlp.nn.util import min_value_of_dtype

from elmo_tasks.modules.antecedent_scorer import AntecedentBlock
from elmo_tasks.readers.coref_json import Span


class CorefMention(NamedTuple):
    """
    A mention of a cluster: the document's `words[start:end]`, the index of its antecedent in the
    cluster, and the antecedent's probability. The last two are `None` for the first mention.
    """

    start: int
    end: int
    antecedent: int | None = None
    probability: float | None = None


class AntecedentChoice(NamedTuple):
    """
    The antecedents of the mentions of a document.

    # Parameters

    antecedents (`torch.LongTensor`): Shape (mentions,): the most probable antecedent's index, -1
        for none.
    probabilities: Shape (mentions,): the probabilities of these antecedents.
    loss: A scalar: -log of the summed probability of a mention's gold antecedents, summed over the
        mentions (Lee et al. 2017, equation 8). 0 if no labels are given.
    """

    antecedents: torch.Tensor
    probabilities: torch.Tensor
    loss: torch.Tensor


def choose_antecedents(
    blocks: Iterable[AntecedentBlock], labels: torch.Tensor | None
) -> AntecedentChoice:
    """
    # Parameters

    blocks: The scores of all mentions, in their order; at least one block.
    labels (`torch.LongTensor`): Shape (mentions,): the gold cluster of each mention, -1 for none.
        The gold antecedents of a mention are the earlier mentions of its cluster. A mention without
        gold antecedents should choose "no antecedent".
    """
    choices, probabilities, losses = [], [], []
    for block in blocks:
        log_probabilities = block.scores.log_softmax(dim=1)
        best = log_probabilities.max(dim=1)
        # The first column stands for no antecedent.
        choices.append((best.indices - 1 + block.columns.start).where(best.indices > 0, -1))
        probabilities.append(best.values.detach().exp())
        if labels is not None:
            losses.append(-_mask_wrong(log_probabilities, block, labels).logsumexp(dim=1).sum())
    loss = torch.stack(losses).sum() if losses else block.scores.new_zeros(())
    return AntecedentChoice(torch.cat(choices), torch.cat(probabilities), loss)


def _mask_wrong(
    log_probabilities: torch.Tensor, block: AntecedentBlock, labels: torch.Tensor
) -> torch.Tensor:
    """Returns the log probabilities, with the smallest number of the dtype at wrong choices."""
    rows, columns = labels[block.rows].unsqueeze(1), labels[block.columns]
    smallest = min_value_of_dtype(log_probabilities.dtype)
    # A mention that cannot be an antecedent has the smallest score.
    is_right = (rows == columns) & (rows >= 0) & (block.scores[:, 1:] > smallest)
    is_right = torch.cat([~is_right.any(dim=1, keepdim=True), is_right], dim=1)
    return log_probabilities.masked_fill(~is_right, smallest)


def cluster_labels(spans: Iterable[Sequence[int]], clusters: Sequence[Sequence[Span]]) -> list[int]:
    """
    Returns the index of each span's cluster, or -1 for a span in no cluster. If a span is in
    several clusters, returns the last.
    """
    cluster_of = {span: index for index, cluster in enumerate(clusters) for span in cluster}
    return [cluster_of.get((start, end), -1) for start, end in spans]


def clusters_of(
    spans: Sequence[Sequence[int]], antecedents: Sequence[int], probabilities: Sequence[float]
) -> list[list[CorefMention]]:
    """
    Joins each mention and its antecedent into one cluster. Returns the clusters in the order of
    their first mentions. A mention without links is in no cluster.
    """
    clusters: list[list[CorefMention]] = []
    # For each mention: its cluster, and its index in the cluster.
    indices: dict[int, tuple[int, int]] = {}
    for mention, (antecedent, probability) in enumerate(zip(antecedents, probabilities)):
        if antecedent < 0:
            continue
        if antecedent not in indices:
            start, end = spans[antecedent]
            indices[antecedent] = len(clusters), 0
            clusters.append([CorefMention(start, end)])
        start, end = spans[mention]
        cluster, index = indices[antecedent]
        indices[mention] = cluster, len(clusters[cluster])
        clusters[cluster].append(CorefMention(start, end, index, probability))
    return sorted(clusters, key=lambda cluster: cluster[0][:2])

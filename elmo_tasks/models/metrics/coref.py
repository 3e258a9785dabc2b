from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy
import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

# A mention of any hashable type, such as the pair of its first word and the word after its last.
Mention = Hashable
Clusters = Sequence[Iterable[Mention]]


@Metric.register("elmo_coref")
class CorefMetric(Metric):
    """
    Computes precision, recall and F1 of clusters, from 0 to 1, counted as in the official scorer of
    CoNLL-2012 (Pradhan et al. 2014, version 8.01). The measures are MUC (Vilain et al. 1995),
    B-cubed (Bagga and Baldwin 1998), CEAF with the similarity phi4 of clusters (Luo 2005), and the
    mean of the three F1 scores, by which CoNLL-2012 ranks. Counts are summed over the documents.

    Registered as a `Metric` with name "elmo_coref".
    """

    def __init__(self) -> None:
        self.reset()

    def __call__(self, predictions: Sequence[Clusters], gold: Sequence[Clusters]) -> None:
        """
        # Parameters

        predictions, gold: The predicted and the gold clusters of each document. A mention that is
            predicted in several clusters counts only in the first.
        """
        for predicted, expected in zip(predictions, gold, strict=True):
            self._counts += torch.from_numpy(coref_counts(predicted, expected))

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `f1-measure-mean`; and `precision-NAME`, `recall-NAME` and `f1-measure-NAME`, where
        NAME is `muc`, `b-cubed` or `ceaf`. The documents of all processes count. A score is 0 if
        there is nothing to count.
        """
        metrics: dict[str, float] = {}
        for name, counts in zip(_MEASURES, dist_reduce_sum(self._counts).tolist()):
            correct, predicted, similar, gold = counts
            precision, recall = _ratio(correct, predicted), _ratio(similar, gold)
            f1 = _ratio(2 * precision * recall, precision + recall)
            metrics |= {
                f"precision-{name}": precision,
                f"recall-{name}": recall,
                f"f1-measure-{name}": f1,
            }
        metrics["f1-measure-mean"] = sum(metrics[f"f1-measure-{name}"] for name in _MEASURES) / 3
        if reset:
            self.reset()
        return metrics

    def reset(self) -> None:
        # Shape: (3, 4), as returned by `coref_counts`.
        self._counts = torch.zeros(len(_MEASURES), 4, dtype=torch.float64)


def coref_counts(predicted: Clusters, gold: Clusters) -> numpy.ndarray:
    """
    Returns the counts of a document's clusters, shape (3, 4): for MUC, B-cubed and CEAF, the
    numerator and denominator of the precision, then of the recall. The counts of several documents
    can be added.
    """
    answer, facts = _without_repetitions(predicted), [set(cluster) for cluster in gold]
    return numpy.array([counts(answer, facts) for counts in _MEASURES.values()])


def _muc(predicted: list[set[Mention]], gold: list[set[Mention]]) -> numpy.ndarray:
    return numpy.array([*_links(predicted, gold), *_links(gold, predicted)])


def _links(clusters: list[set[Mention]], other_clusters: list[set[Mention]]) -> tuple[int, int]:
    """
    Returns how many links of `clusters` are also in `other_clusters`, and how many links `clusters`
    have. A cluster of n mentions has n - 1 links.
    """
    owners = _owners(other_clusters)
    correct = total = 0
    for cluster in clusters:
        owned = [owners[mention] for mention in cluster if mention in owners]
        correct += len(owned) - len(set(owned))
        total += len(cluster) - 1
    return correct, total


def _b_cubed(predicted: list[set[Mention]], gold: list[set[Mention]]) -> numpy.ndarray:
    return numpy.array([*_overlaps(predicted, gold), *_overlaps(gold, predicted)])


def _overlaps(
    clusters: list[set[Mention]], other_clusters: list[set[Mention]]
) -> tuple[float, int]:
    """
    Returns a sum over all mentions of `clusters`, and the number of mentions. A mention adds the
    part of its cluster, from 0 to 1, that is also in its cluster of `other_clusters`.
    """
    owners = _owners(other_clusters)
    correct = 0.0
    for cluster in clusters:
        shares = Counter(owners[mention] for mention in cluster if mention in owners)
        correct += sum(share**2 for share in shares.values()) / len(cluster)
    return correct, sum(map(len, clusters))


def _ceaf(predicted: list[set[Mention]], gold: list[set[Mention]]) -> numpy.ndarray:
    # Imported here, since a prediction does not need these 30 MB.
    from scipy.optimize import linear_sum_assignment

    similarity = numpy.array(
        [
            [
                2 * len(cluster & gold_cluster) / (len(cluster) + len(gold_cluster))
                for gold_cluster in gold
            ]
            for cluster in predicted
        ]
    ).reshape(len(predicted), len(gold))
    best = similarity[linear_sum_assignment(similarity, maximize=True)].sum()
    return numpy.array([best, len(predicted), best, len(gold)])


_MEASURES = {"muc": _muc, "b-cubed": _b_cubed, "ceaf": _ceaf}


def _owners(clusters: list[set[Mention]]) -> dict[Mention, int]:
    """Returns the index of the cluster of each mention."""
    return {mention: index for index, cluster in enumerate(clusters) for mention in cluster}


def _without_repetitions(clusters: Clusters) -> list[set[Mention]]:
    mentions: set[Mention] = set()
    distinct = []
    for cluster in clusters:
        distinct.append(set(cluster) - mentions)
        mentions.update(cluster)
    return [cluster for cluster in distinct if cluster]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0

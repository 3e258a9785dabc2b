from itertools import permutations
from random import Random

import pytest
import torch
from allennlp.training.metrics import Metric

from elmo_tasks.models.metrics.coref import CorefMetric


def scores(
    predicted: list[str], gold: list[str], metric: CorefMetric | None = None
) -> dict[str, tuple[float, float]]:
    """Returns precision and recall by the names of the metrics; a letter is a mention."""
    metric = metric or CorefMetric()
    metric([predicted], [gold])
    found = metric.get_metric()
    return {
        name: (found[f"precision-{name}"], found[f"recall-{name}"])
        for name in ("muc", "b-cubed", "ceaf")
    }


def test_a_mention_counts_where_it_is_predicted_first() -> None:
    assert set(scores(["ab", "bc"], ["ab", "c"]).values()) == {(1, 1)}


def drawn(random: Random) -> list[str]:
    clusters = [""] * random.randint(1, 4)
    for mention in random.sample("abcdefgh", random.randint(0, 8)):
        clusters[random.randrange(len(clusters))] += mention
    return [cluster for cluster in clusters if cluster]


def by_definition(clusters: list[str], others: list[str]) -> dict[str, tuple[float, float]]:
    """
    Returns what the clusters have of the others, and of how much. MUC counts for a cluster the
    parts into which the others divide it, B-cubed goes over the mentions, and CEAF tries every
    alignment.
    """
    muc = b_cubed = 0.0
    for cluster in clusters:
        parts = [set(cluster) & set(other) for other in others]
        alone = set(cluster) - set("".join(others))
        muc += len(cluster) - len([part for part in parts if part]) - len(alone)
        for mention in cluster:
            b_cubed += sum(len(part) for part in parts if mention in part) / len(cluster)
    few, many = sorted((clusters, others), key=len)
    ceaf = max(
        sum(2 * len(set(a) & set(b)) / (len(a) + len(b)) for a, b in zip(few, order))
        for order in permutations(many, len(few))
    )
    num_mentions = sum(map(len, clusters))
    return {
        "muc": (muc, num_mentions - len(clusters)),
        "b-cubed": (b_cubed, num_mentions),
        "ceaf": (ceaf, len(clusters)),
    }


def test_random_clusters_have_the_counts_of_the_definitions() -> None:
    random = Random(0)

    for _ in range(200):
        predicted, gold = drawn(random), drawn(random)
        found = scores(predicted, gold)
        for index, (one, other) in enumerate([(predicted, gold), (gold, predicted)]):
            for name, (correct, total) in by_definition(one, other).items():
                expected = correct / total if total else 0
                assert found[name][index] == pytest.approx(expected), (name, predicted, gold)


def test_counts_are_summed_over_the_documents() -> None:
    metric = CorefMetric()

    scores(["ab"], ["abc"], metric)
    found = scores(["abc"], ["abc"], metric)

    assert found["muc"] == pytest.approx((1, 3 / 4))
    assert found["b-cubed"] == pytest.approx((1, (4 / 3 + 3) / 6))
    assert found["ceaf"] == pytest.approx(((4 / 5 + 1) / 2, (4 / 5 + 1) / 2))


def test_the_counts_of_several_processes_are_added_in_float64(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metric = CorefMetric()
    metric([["abcx", "yz"]], [["abc", "z"]])
    expected = metric.get_metric()
    monkeypatch.setattr("allennlp.nn.util.is_distributed", lambda: True)
    monkeypatch.setattr("allennlp.nn.util.distributed_device", lambda: torch.device("cpu"))
    monkeypatch.setattr("torch.distributed.all_reduce", lambda counts, op: counts.mul_(2))

    found = metric.get_metric()

    # The ratios of doubled counts are the same to the bit, unless the counts were rounded.
    assert found == expected


def test_mean_is_that_of_the_three_f1_and_a_reset_starts_anew() -> None:
    metric = Metric.by_name("elmo_coref")()
    metric([["ab"]], [["abc"]])

    found = metric.get_metric(reset=True)

    assert found["f1-measure-muc"] == pytest.approx(2 / 3)
    expected = (2 / 3 + 8 / 13 + 4 / 5) / 3
    assert found["f1-measure-mean"] == pytest.approx(expected)
    assert set(metric.get_metric().values()) == {0}
    assert len(found) == 10

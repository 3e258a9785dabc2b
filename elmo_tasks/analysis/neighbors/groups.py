from typing import NamedTuple

import torch
from sklearn.cluster import KMeans


class Group(NamedTuple):
    """
    Occurrences that belong together.

    # Parameters

    members : `list[int]`
        Their numbers, the nearest to the middle of the group, or to what was asked for, first.
    cosines : `list[float]`
        How near each is.
    """

    members: list[int]
    cosines: list[float]


def rank(vectors: torch.Tensor, wanted: torch.Tensor) -> Group:
    """
    All of them, by the cosine to one vector.

    # Parameters

    vectors : `torch.Tensor`
        Shape (occurrences, dim), of length 1.
    wanted : `torch.Tensor`
        Shape (dim,), of length 1.
    """
    return _group(vectors, list(range(len(vectors))), wanted)


def cluster(vectors: torch.Tensor, num_clusters: int, seed: int = 0) -> list[Group]:
    """
    So many groups at most, the largest first: k-means of vectors of length 1, the shape of which
    is (occurrences, dim).
    """
    num_clusters = min(num_clusters, len(torch.unique(vectors, dim=0)))
    labels = KMeans(num_clusters, n_init=10, random_state=seed).fit_predict(
        vectors.double().numpy()
    )
    groups = []
    for label in range(num_clusters):
        members = (labels == label).nonzero()[0].tolist()
        middle = torch.nn.functional.normalize(vectors[members].mean(0), dim=0)
        groups.append(_group(vectors, members, middle))
    return sorted(groups, key=lambda group: -len(group.members))


def mean_cosine(vectors: torch.Tensor, group: Group, other: Group) -> float:
    """Of every member of a group with every other one of the second, which may be the same."""
    first, second = vectors[group.members].double(), vectors[other.members].double()
    total, num_pairs = float(first.sum(0) @ second.sum(0)), len(first) * len(second)
    if group is other:
        # Each is alike to itself.
        total, num_pairs = total - len(first), num_pairs - len(first)
    return total / num_pairs if num_pairs else 1.0


def _group(vectors: torch.Tensor, members: list[int], middle: torch.Tensor) -> Group:
    cosines, order = (vectors[members] @ middle).sort(descending=True, stable=True)
    return Group([members[row] for row in order.tolist()], cosines.tolist())

from typing import NamedTuple

import torch


class Group(NamedTuple):
    """
    Some of the occurrences of a word, sorted by their cosine to one vector.

    # Parameters

    members: The indices of the occurrences, from the largest cosine to the smallest.
    cosines: The cosine of each member to the centre of its cluster, or to the wanted vector.
    """

    members: list[int]
    cosines: list[float]


def rank(vectors: torch.Tensor, wanted: torch.Tensor) -> Group:
    """
    Returns all vectors as one group, sorted by their cosine to `wanted`.

    # Parameters

    vectors: Shape (occurrences, dim); each vector has length 1.
    wanted: Shape (dim,); the vector has length 1.
    """
    return _group(vectors, list(range(len(vectors))), wanted)


def cluster(vectors: torch.Tensor, num_clusters: int, seed: int = 0) -> list[Group]:
    """
    Clusters vectors with k-means, and returns the clusters, the largest first.

    # Parameters

    vectors: Shape (occurrences, dim); each vector has length 1.
    num_clusters: The number of clusters; fewer if there are fewer distinct vectors.
    seed (default `0`)
    """
    # Only this function needs scikit-learn, whose import takes a second.
    from sklearn.cluster import KMeans

    num_clusters = min(num_clusters, len(torch.unique(vectors, dim=0)))
    labels = KMeans(num_clusters, n_init=10, random_state=seed).fit_predict(
        vectors.double().numpy()
    )
    groups = []
    for label in range(num_clusters):
        members = (labels == label).nonzero()[0].tolist()
        centre = torch.nn.functional.normalize(vectors[members].mean(0), dim=0)
        groups.append(_group(vectors, members, centre))
    return sorted(groups, key=lambda group: -len(group.members))


def mean_cosine(vectors: torch.Tensor, group: Group, other: Group) -> float:
    """
    Returns the mean cosine over all pairs of a member of `group` and a member of `other`. If the
    two groups are the same, pairs of a member with itself are left out.
    """
    first, second = vectors[group.members].double(), vectors[other.members].double()
    total, num_pairs = float(first.sum(0) @ second.sum(0)), len(first) * len(second)
    if group is other:
        # Each pair of a member with itself has a cosine of 1.
        total, num_pairs = total - len(first), num_pairs - len(first)
    return total / num_pairs if num_pairs else 1.0


def _group(vectors: torch.Tensor, members: list[int], centre: torch.Tensor) -> Group:
    cosines, order = (vectors[members] @ centre).sort(descending=True, stable=True)
    return Group([members[row] for row in order.tolist()], cosines.tolist())

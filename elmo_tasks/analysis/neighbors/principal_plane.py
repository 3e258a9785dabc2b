import torch


def principal_plane(vectors: torch.Tensor) -> tuple[torch.Tensor, list[float]]:
    """
    Projects vectors to the plane of their first two principal components. Returns the points, of
    shape (occurrences, 2), and each component's share of the variance.
    """
    centered = (vectors - vectors.mean(0)).double()
    _, sizes, directions = torch.linalg.svd(centered, full_matrices=False)
    variances = sizes.square() / sizes.square().sum().clamp(min=1e-12)
    points = torch.zeros(len(vectors), 2, dtype=torch.double)
    projected = centered @ directions[:2].T
    points[:, : projected.size(1)] = projected
    return points, [*variances[:2].tolist(), 0.0][:2]

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

DIRECTIONS = ("forward", "backward")


class Perplexity(Metric):
    """
    Computes the perplexity of each direction, and the arithmetic mean of the two as `perplexity`.
    """

    def __init__(self) -> None:
        self.reset()

    def __call__(self, losses: list[torch.Tensor]) -> None:  # type: ignore[override]
        """
        # Parameters

        losses: The negative log-likelihood of each word, shape (words,), for each direction.
        """
        for sums, loss in zip(self._sums, losses):
            sums += torch.tensor([loss.detach().sum().item(), len(loss)])

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns the perplexities. With `reset`, they are over the words of all processes."""
        sums = self._sums
        if reset:
            self.reset()
            sums = dist_reduce_sum(sums).cpu()
        perplexities = torch.exp(sums[:, 0] / sums[:, 1].clamp(min=1)).tolist()
        metrics = {f"{name}_perplexity": value for name, value in zip(DIRECTIONS, perplexities)}
        return {"perplexity": sum(perplexities) / 2, **metrics}

    def reset(self) -> None:
        # Shape: (2 directions, 2): the sum of the negative log-likelihoods, the number of words.
        self._sums = torch.zeros(2, 2, dtype=torch.float64)

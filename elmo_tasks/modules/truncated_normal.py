import torch
from allennlp.nn import Initializer


@Initializer.register("elmo_truncated_normal")
class TruncatedNormal(Initializer):
    """
    Draws from a normal distribution around zero, cut off at two standard deviations, like
    TensorFlow's `truncated_normal`.

    Registered as an `Initializer` with name "elmo_truncated_normal".

    # Parameters

    std: The standard deviation before the cut.
    """

    def __init__(self, std: float) -> None:
        self.std = std

    def __call__(self, tensor: torch.Tensor, **kwargs) -> None:
        torch.nn.init.trunc_normal_(tensor, std=self.std, a=-2 * self.std, b=2 * self.std)

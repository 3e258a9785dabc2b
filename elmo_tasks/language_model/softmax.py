import os
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import SOFTMAX_FILE, WORDS_FILE
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.hashed_file import read_hashed, write_hashed
from elmo_tasks.common.tensors import hash_bytes
from elmo_tasks.kernels.blocked_product import BlockedProduct, scaled

# The class of all unknown words.
UNKNOWN_CLASS = 0

# In 8 bits, the numbers of a weight are from -127 to 127.
_LARGEST = 127


class LeftOut(NamedTuple):
    """
    Approximates the classes that a smaller softmax leaves out. If the rows of their weight were
    normally distributed, the log-sum-exp of their logits for an input h would be `bias + mean @ h +
    h @ covariance @ h / 2`: the logarithm of the moment-generating function of a multivariate
    normal distribution.

    # Parameters

    bias: A scalar: the log-sum-exp of the classes' biases.
    mean, covariance: Shapes (dim,) and (dim, dim): the mean and the covariance of the weight's
        rows. Each row counts in proportion to the exponential of its bias.
    """

    bias: torch.Tensor
    mean: torch.Tensor
    covariance: torch.Tensor

    @classmethod
    def of(cls, weight: torch.Tensor, bias: torch.Tensor) -> "LeftOut":
        shares = bias.softmax(dim=0)
        mean = shares @ weight
        centred = weight - mean
        covariance = centred.T @ (centred * shares.unsqueeze(1))
        return cls(bias.logsumexp(dim=0), mean, covariance)

    def log_sums(self, h: torch.Tensor) -> torch.Tensor:
        return self.bias + h @ self.mean + ((h @ self.covariance) * h).sum(dim=1) / 2


class Softmax:
    """
    The softmax of a language model (Peters et al. 2018, section 3.1), for scoring. Both directions
    share it. Matrix products are in float32 for any dtype of the weight.

    # Parameters

    words: The words of the classes. The first class stands for all unknown words.
    weight: Shape (words, dim), in float32, or in int8 with a `scale`.
    bias: Shape (words,).
    scale: Shape (words,): the factor of each row of the weight.
    left_out: Approximates the logits of the words that are left out. These words count as unknown.
    """

    def __init__(
        self,
        words: list[str],
        weight: torch.Tensor,
        bias: torch.Tensor,
        scale: torch.Tensor | None = None,
        left_out: LeftOut | None = None,
    ) -> None:
        self.words = words
        self.weight, self.bias, self.scale = weight, bias, scale
        self.left_out = left_out
        self._classes = {word: index for index, word in enumerate(words) if index != UNKNOWN_CLASS}
        self._product = BlockedProduct(weight, bias, scale)

    def in_8_bits(self, max_words: int | None = None) -> "Softmax":
        """
        Returns this softmax with its float32 weight rounded to 8-bit numbers. Keeps the first
        `max_words` words, 1 or more, by default all. The other words count as unknown.
        """
        # The class of unknown words does not count as a word.
        num_classes = len(self.words) if max_words is None else max_words + 1
        weight, rest_of_weight = self.weight[:num_classes], self.weight[num_classes:]
        # Any scale will do for a row of zeros.
        scale = weight.abs().amax(dim=1).clamp(min=1e-30) / _LARGEST
        integers = (weight / scale.unsqueeze(1)).round().to(torch.int8)
        left_out = (
            LeftOut.of(rest_of_weight, self.bias[num_classes:]) if len(rest_of_weight) else None
        )
        return Softmax(self.words[:num_classes], integers, self.bias[:num_classes], scale, left_out)

    def classes(self, words: list[str]) -> list[int]:
        return [self._classes.get(word, UNKNOWN_CLASS) for word in words]

    def knows(self, word: str) -> bool:
        return word in self._classes

    def log_probs(self, h: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        """
        Returns the log probability, in nats, of the class of each token: shape (tokens,), for h of
        shape (tokens, dim), the top layer of either direction.
        """
        rows = scaled(self.weight[classes], None if self.scale is None else self.scale[classes])
        target = (h * rows).sum(dim=1) + self.bias[classes]
        total = self._product.log_sums(h)
        if self.left_out is not None:
            left_out = self.left_out.log_sums(h)
            total = torch.logaddexp(total, left_out)
            unknown = torch.logaddexp(target, left_out)
            target = torch.where(classes == UNKNOWN_CLASS, unknown, target)
        return target - total

    def distribution(self, h: torch.Tensor) -> torch.Tensor:
        """
        Returns the log probability, in nats, of each class: shape (tokens, words), for h of shape
        (tokens, dim). The probabilities of a row sum to 1.
        """
        logits = self._product.logits(h)
        if self.left_out is not None:
            logits[:, UNKNOWN_CLASS] = torch.logaddexp(
                logits[:, UNKNOWN_CLASS], self.left_out.log_sums(h)
            )
        return logits.log_softmax(dim=1)


def write_softmax(folder: str | os.PathLike, softmax: Softmax, bilm: BiLm) -> None:
    """
    Writes a softmax in 8 bits to a folder: its tensors to `softmax.safetensors`, and its words to
    `softmax_words.txt`, one on each line. `bilm` must have been read from the files in this folder,
    because `read_softmax` refuses any other biLM.
    """
    tensors = {"weight": softmax.weight, "scale": softmax.scale, "bias": softmax.bias}
    if softmax.left_out is not None:
        tensors |= {f"left_out.{name}": part for name, part in softmax.left_out._asdict().items()}
    words = "".join(f"{word}\n" for word in softmax.words).encode()
    about = {"bilm": bilm.weights_hash().hex(), "words": hash_bytes(words).hex()}
    # The two files belong together if `SOFTMAX_FILE` has the hash of the words.
    write_whole(Path(folder) / WORDS_FILE, words)
    write_hashed(Path(folder) / SOFTMAX_FILE, tensors, about)


def read_softmax(folder: str | os.PathLike, bilm: BiLm) -> Softmax:
    """
    Reads the softmax of a biLM, onto the biLM's device.

    # Raises

    `ConfigurationError`: A file is missing or damaged, or the softmax belongs to another biLM.
    """
    path = Path(folder) / SOFTMAX_FILE
    try:
        tensors, about = read_hashed(path, "elmo-tasks pack", ["bilm", "words"])
        words = (Path(folder) / WORDS_FILE).read_bytes()
        if about["bilm"] != bilm.weights_hash().hex():
            raise ValueError("it is not the softmax of the biLM beside it")
        if about["words"] != hash_bytes(words).hex():
            raise ValueError(f"{WORDS_FILE} is not the list of its words")
        names = words.decode().split("\n")[:-1]
        dim = bilm.options.projection_dim
        shapes: dict[str, tuple[int, ...]] = {
            "weight": (len(names), dim),
            "bias": (len(names),),
            "scale": (len(names),),
            "left_out.bias": (),
            "left_out.mean": (dim,),
            "left_out.covariance": (dim, dim),
        }
        if tensors.keys() not in (shapes.keys(), {"weight", "scale", "bias"}) or any(
            tensor.shape != shapes[name]
            or tensor.dtype != (torch.int8 if name == "weight" else torch.float32)
            or not tensor.isfinite().all()
            for name, tensor in tensors.items()
        ):
            raise ValueError("a tensor is missing, or has a wrong shape, dtype or number")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path} is not a softmax that elmo-tasks pack wrote for this biLM: {error}"
        ) from error
    weight, bias, scale, *left_out = (
        tensors[name].to(bilm.like.device) for name in shapes if name in tensors
    )
    return Softmax(names, weight, bias, scale, LeftOut(*left_out) if left_out else None)

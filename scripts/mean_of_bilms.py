"""
Writes the mean of the weights of a biLM and of its continuation: it keeps most of what the first
one knew, and has half of what the second one learnt (Wortsman et al. 2022, "Robust fine-tuning of
zero-shot models"). If both have a softmax, the rows of words that both know become means, too.

    python scripts/mean_of_bilms.py base runs/packed --output runs/mean
"""

import argparse
from pathlib import Path

import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import OPTIONS_FILE, SOFTMAX_FILE, WEIGHTS_FILE
from elmo_tasks.elmo.locate import locate_bilm
from elmo_tasks.kernels.blocked_product import scaled
from elmo_tasks.language_model.softmax import Softmax, read_softmax, write_softmax


def mean_of_bilms(first: str, second: str, folder: Path, share: float = 0.5) -> None:
    """
    Writes `(1 - share) * first + share * second` to a folder, in float16. Raises
    `ConfigurationError` if the biLMs differ in their sizes.
    """
    locations = [locate_bilm(name) for name in (first, second)]
    bilms = [make_bilm(*location.files, state="reset") for location in locations]
    if bilms[0].raw_options != bilms[1].raw_options:
        raise ConfigurationError(f"{first} and {second} have different options")
    softmaxes = [
        read_softmax(location.options.parent, bilm)
        for location, bilm in zip(locations, bilms, strict=True)
        if location.beside(SOFTMAX_FILE) is not None
    ]
    start, end = (bilm.state_dict() for bilm in bilms)
    bilms[0].load_state_dict({name: torch.lerp(start[name], end[name], share) for name in start})
    bilms[0].to_files(folder, dtype="float16")
    if len(softmaxes) == 2:
        one, other = softmaxes
        # The weights are read again, because float16 has rounded them.
        mean_bilm = make_bilm(folder / OPTIONS_FILE, folder / WEIGHTS_FILE, state="reset")
        write_softmax(folder, mean_of_softmaxes(one, other, share), mean_bilm)


def mean_of_softmaxes(first: Softmax, second: Softmax, share: float) -> Softmax:
    """Returns a softmax of the words of `first`, in 8 bits."""
    common = [word for word in first.words[1:] if second.knows(word)]
    rows, other_rows = torch.tensor(first.classes(common)), torch.tensor(second.classes(common))
    weight, bias = _weight(first), first.bias.clone()
    weight[rows] = torch.lerp(weight[rows], _weight(second)[other_rows], share)
    # The biases of a softmax are known up to a constant.
    new_bias = second.bias[other_rows] - (second.bias[other_rows] - bias[rows]).mean()
    bias[rows] = torch.lerp(bias[rows], new_bias, share)
    mean = Softmax(first.words, weight, bias).in_8_bits()
    mean.left_out = first.left_out
    return mean


def _weight(softmax: Softmax) -> torch.Tensor:
    return scaled(softmax.weight, softmax.scale).clone()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", help="name or folder of a biLM")
    parser.add_argument("second", help="the same biLM after more training")
    parser.add_argument("--output", type=Path, required=True, help="folder for the mean")
    parser.add_argument("--share", type=float, default=0.5, help="of the second (default: 0.5)")
    arguments = parser.parse_args()
    try:
        mean_of_bilms(arguments.first, arguments.second, arguments.output, arguments.share)
    except ConfigurationError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

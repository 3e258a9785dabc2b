"""
Writes the mean of the weights of a packed model and of the same model after more training: it keeps
most of what the first one knew, and has a part of what the second one learnt (Wortsman et al. 2022,
"Robust fine-tuning of zero-shot models").

    python scripts/mean_of_models.py runs/coref runs/further --output runs/mean --share 0.7
"""

import argparse
import shutil
from pathlib import Path

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import PUBLISHED_WEIGHTS
from elmo_tasks.common.hashed_file import read_hashed, write_hashed


def mean_of_models(first: Path, second: Path, folder: Path, share: float = 0.5) -> None:
    """
    Writes `(1 - share) * first + share * second` to a new folder, in float16, with the other files
    of `second`. Raises `ConfigurationError` if the models differ in their biLMs, their words or
    their sizes.
    """
    states = []
    for model in (first, second):
        tensors, about = read_hashed(model / PUBLISHED_WEIGHTS, "elmo-tasks pack", ["bilms"])
        # The lines of the file that is left out have no order.
        words = [
            path.read_bytes()
            for path in sorted(model.glob("vocabulary/*.txt"))
            if path.stem != "non_padded_namespaces"
        ]
        shapes = {name: tensor.shape for name, tensor in tensors.items()}
        states.append((tensors, (about, words, shapes)))
    (start, one), (end, other) = states
    if one != other:
        raise ConfigurationError(f"{first} and {second} differ in their biLMs, words or sizes")
    mean = {name: torch.lerp(start[name].float(), end[name].float(), share) for name in start}
    shutil.copytree(second, folder)
    write_hashed(folder / PUBLISHED_WEIGHTS, {name: mean[name].half() for name in mean}, other[0])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=Path, help="the folder of a packed model")
    parser.add_argument("second", type=Path, help="the same model after more training, packed")
    parser.add_argument("--output", type=Path, required=True, help="the new folder for the mean")
    parser.add_argument("--share", type=float, default=0.5, help="of the second (default: 0.5)")
    arguments = parser.parse_args()
    try:
        mean_of_models(arguments.first, arguments.second, arguments.output, arguments.share)
    except (ConfigurationError, FileExistsError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

"""
Adds a highway layer to the character CNN of a biLM. The biLM computes the same as before, and can
learn more words when it is trained further. Its softmax, if it has one, comes along.

    python scripts/add_highway.py base runs/larger
"""

import argparse
from pathlib import Path

import torch

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.bilm.files.known_bilms import OPTIONS_FILE, WEIGHTS_FILE, bilm_files, local_weights
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.softmax_file import SOFTMAX_FILE, read_softmax, write_softmax


def add_highway(name: str, folder: Path) -> None:
    """
    Writes the larger biLM to a folder. Raises `ConfigurationError` if it has no character CNN.
    """
    options_file, weights_file = bilm_files(name)
    bilm = make_bilm(options_file, weights_file)
    if not bilm.options.filters:
        raise ConfigurationError(f"{name} has no character CNN")
    larger(bilm).to_files(folder)
    known = Path(local_weights(name)).parent
    if (known / SOFTMAX_FILE).exists():
        written = make_bilm(folder / OPTIONS_FILE, folder / WEIGHTS_FILE)
        write_softmax(folder, read_softmax(known, bilm), written)


def larger(bilm: BiLm) -> BiLm:
    """
    Returns a biLM with one highway layer more, whose transform is the identity. The layer before
    has no negative output, so what the gate chooses makes no difference until it is trained.
    """
    options, num_filters = bilm.raw_options, bilm.options.num_filters
    options["char_cnn"]["n_highway"] = bilm.options.num_highway + 1
    grown = make_bilm(options, state=bilm.state_name)
    layer = grown.char_cnn.highways._layers[-1]
    with torch.no_grad():
        layer.weight.copy_(torch.eye(2 * num_filters, num_filters))
    grown.load_state_dict(bilm.state_dict(), strict=False)
    return grown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bilm", help="name or folder of a biLM")
    parser.add_argument("folder", type=Path, help="folder for the larger biLM")
    arguments = parser.parse_args()
    try:
        add_highway(arguments.bilm, arguments.folder)
    except ConfigurationError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

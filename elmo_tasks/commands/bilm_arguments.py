import argparse

import torch

from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM, KNOWN_BILMS, Source
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.opening import Opened, open_elmo
from elmo_tasks.elmo.store.layer_store import LayerStore
from elmo_tasks.kernels.dtypes import DTYPES


def add_bilm_options(subparser: argparse.ArgumentParser) -> None:
    """Adds the options that `open_from_args` reads."""
    add = subparser.add_argument
    add(
        "--bilm",
        metavar="NAME|FOLDER|ARCHIVE",
        help=f"a known biLM ({', '.join(sorted(KNOWN_BILMS))}; default: {DEFAULT_BILM}), a folder "
        "with options.json and weights.hdf5, a zip file of them as in the NLPL repository, a "
        "repository of these files on the Hugging Face hub (owner/name@revision), or a model that "
        "contains a biLM: its name, model.tar.gz or folder",
    )
    add("--name", help="the name of the biLM, if the model of an archive has several")
    add("--options-file", help="the options.json of a biLM, with --weight-file")
    add("--weight-file", help="the weights.hdf5 of a biLM, with --options-file")
    add(
        "--dtype",
        choices=DTYPES,
        help="the dtype of the biLM's matrix products: float32; bfloat16, which is faster on a CPU "
        "or GPU that has units for it, with relative errors of 0.5 %%; or auto, the faster of the "
        "two (default: that of the archive's config, otherwise float32)",
    )
    add("--cuda-device", type=int, default=-1, help="the index of the GPU (default: the CPU)")


def open_from_args(args: argparse.Namespace, store: LayerStore | None = None) -> Opened:
    """Opens the biLM that the options name."""
    name: Source = args.bilm or DEFAULT_BILM
    files = args.options_file, args.weight_file
    if any(files):
        if not all(files) or args.bilm is not None:
            raise ConfigurationError(
                "give --options-file together with --weight-file and without --bilm"
            )
        name = files
    return open_elmo(name, args.name, store, _device(args.cuda_device), args.dtype)


def _device(index: int) -> torch.device:
    count = torch.cuda.device_count()
    if index >= count:
        gpus = f"the GPUs 0 to {count - 1}" if count else "no GPU"
        raise ConfigurationError(f"--cuda-device {index}: PyTorch finds {gpus} here")
    return torch.device("cpu" if index < 0 else f"cuda:{index}")

import argparse

import torch

from elmo_tasks.bilm import BiLm, FrozenBiLm, make_bilm
from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM, KNOWN_BILMS, bilm_files
from elmo_tasks.bilm.files.options import read_options
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import load_bilm
from elmo_tasks.elmo.known_models import is_model
from elmo_tasks.encoder.encoder import ElmoEncoder
from elmo_tasks.encoder.sentence_layers import SentenceLayers
from elmo_tasks.kernels.dtypes import DTYPES
from elmo_tasks.store.layer_store import LayerStore


def add_bilm_options(subparser: argparse.ArgumentParser) -> None:
    """Adds the options that `layers_from_args` reads."""
    add = subparser.add_argument
    add(
        "--bilm",
        metavar="NAME|FOLDER|ARCHIVE",
        help=f"a known biLM ({', '.join(sorted(KNOWN_BILMS))}; default: {DEFAULT_BILM}), a folder "
        "with options.json and weights.hdf5, a repository of these files on the Hugging Face hub "
        "(owner/name@revision), or a model that contains a biLM: its name, model.tar.gz or folder",
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


def layers_from_args(
    args: argparse.Namespace, store: LayerStore | None = None, batch_tokens: int = 2048
) -> tuple[str, SentenceLayers]:
    """Returns the name of the biLM that the options choose, and its `SentenceLayers`."""
    device = _device(args.cuda_device)
    name, bilm = _load(args, store)
    return name, SentenceLayers(bilm.to(device), batch_tokens)


def encoder_from_args(
    args: argparse.Namespace, store: LayerStore | None = None, batch_tokens: int = 2048
) -> ElmoEncoder:
    """
    Returns an encoder of the biLM that the options choose. Its mix is the trained one if `args`
    has the embedding `mix`. Raises `ConfigurationError` if there is no trained mix.
    """
    if args.embedding != "mix":
        if args.place is not None:
            raise ConfigurationError("--place is that of a mix: give --mix as well")
        _, layers = layers_from_args(args, store, batch_tokens)
        return ElmoEncoder(layers.bilm, batch_tokens=batch_tokens)
    if args.options_file or args.weight_file:
        raise ConfigurationError("two files have no mix: give --bilm a model or a folder with one")
    name, device = args.bilm or DEFAULT_BILM, _device(args.cuda_device)
    if is_model(name):
        encoder = ElmoEncoder.from_archive(
            name, args.place, args.name, store, device, args.dtype, batch_tokens=batch_tokens
        )
    else:
        encoder = ElmoEncoder.from_pretrained(
            name, args.place, store, device, args.dtype, batch_tokens=batch_tokens
        )
    if not encoder.has_own_mix:
        raise ConfigurationError(
            f"{name} has no trained mix: give --bilm a model that has one, or --average, which "
            "writes the mean of the layers"
        )
    return encoder


def _device(index: int) -> torch.device:
    count = torch.cuda.device_count()
    if index >= count:
        gpus = f"the GPUs 0 to {count - 1}" if count else "no GPU"
        raise ConfigurationError(f"--cuda-device {index}: PyTorch finds {gpus} here")
    return torch.device("cpu" if index < 0 else f"cuda:{index}")


def _load(args: argparse.Namespace, store: LayerStore | None) -> tuple[str, BiLm]:
    files = args.options_file, args.weight_file
    if any(files):
        if not all(files) or args.bilm is not None:
            raise ConfigurationError(
                "give --options-file together with --weight-file and without --bilm"
            )
        return args.weight_file, _from_files(*files, store, args.dtype)
    name = args.bilm or DEFAULT_BILM
    if is_model(name):
        _, bilm = load_bilm(name, args.name)
        return name, FrozenBiLm.of(bilm, store, args.dtype)
    return name, _from_files(*bilm_files(name), store, args.dtype)


def _from_files(
    options_file: str, weight_file: str, store: LayerStore | None, dtype: str | None
) -> BiLm:
    options = read_options(options_file)
    return make_bilm(options, weight_file, dtype=dtype or "float32", store=store).eval()

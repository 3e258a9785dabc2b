import argparse
import os

from allennlp.common.checks import check_for_gpu
from allennlp.common.util import int_to_device

from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import load_bilm
from elmo_tasks.encoder.encoder import ElmoEncoder
from elmo_tasks.store.layer_store import LayerStore


def add_encoder_options(subparser: argparse.ArgumentParser) -> None:
    """Adds the options that `encoder_from_args` reads."""
    add = subparser.add_argument
    add(
        "--bilm",
        metavar="NAME|ARCHIVE",
        help=f"a known biLM ({', '.join(sorted(KNOWN_BILMS))}; default: mini), or the model.tar.gz "
        "or the folder of a training whose model contains a biLM",
    )
    add("--name", help="the name of the biLM, if the model of an archive has several")
    add("--options-file", help="the options.json of a biLM, with --weight-file")
    add("--weight-file", help="the weights.hdf5 of a biLM, with --options-file")
    add("--cuda-device", type=int, default=-1, help="the index of the GPU (default: the CPU)")


def encoder_from_args(
    args: argparse.Namespace, store: LayerStore | None = None, **settings
) -> tuple[str, ElmoEncoder]:
    """
    Returns the name of the biLM that the options ask for, and its encoder, without a trained mix.
    `settings` are those of `ElmoEncoder`.
    """
    check_for_gpu(args.cuda_device)
    device = int_to_device(args.cuda_device)
    files = args.options_file, args.weight_file
    if any(files):
        if not all(files) or args.bilm is not None:
            raise ConfigurationError(
                "give --options-file together with --weight-file and without --bilm"
            )
        return args.weight_file, ElmoEncoder.from_files(*files, store, device, **settings)
    name = args.bilm or "mini"
    is_a_path = os.path.exists(name) or any(mark in name for mark in "./")
    if name in KNOWN_BILMS or not is_a_path:
        return name, ElmoEncoder.from_name(name, store, device, **settings)
    _, bilm = load_bilm(name, args.name)
    return name, ElmoEncoder(bilm.to(device).frozen(store), **settings)

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
    """The options that `encoder_from_args` reads."""
    add = subparser.add_argument
    add(
        "--bilm",
        metavar="NAME|ARCHIVE",
        help=f"{', '.join(sorted(KNOWN_BILMS))} (default: mini), or a model.tar.gz or the folder "
        "of a training with a biLM in it",
    )
    add("--name", help="which biLM, where the model of an archive has several")
    add("--options-file", help="with --weight-file: the two files of a biLM")
    add("--weight-file", help="with --options-file")
    add("--cuda-device", type=int, default=-1, help="id of the GPU to use, if any")


def encoder_from_args(
    args: argparse.Namespace, store: LayerStore | None = None, **settings
) -> tuple[str, ElmoEncoder]:
    """
    What the biLM is called, and its encoder, of the biLM alone without a trained mix; `settings`
    are those of `ElmoEncoder`.
    """
    check_for_gpu(args.cuda_device)
    device = int_to_device(args.cuda_device)
    files = args.options_file, args.weight_file
    if any(files):
        if not all(files) or args.bilm is not None:
            raise ConfigurationError(
                "give --options-file together with --weight-file, and no --bilm with them"
            )
        return args.weight_file, ElmoEncoder.from_files(*files, store, device, **settings)
    name = args.bilm or "mini"
    unlike_a_path = not os.path.exists(name) and not any(mark in name for mark in "./")
    if name in KNOWN_BILMS or unlike_a_path:
        return name, ElmoEncoder.from_name(name, store, device, **settings)
    _, bilm = load_bilm(name, args.name)
    return name, ElmoEncoder(bilm.to(device).frozen(store), **settings)

import argparse

from allennlp.common.checks import ConfigurationError

from elmo_tasks.bilm.weights import KNOWN_BILMS
from elmo_tasks.encoder import ElmoEncoder


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
    add("--cuda-device", type=int, default=-1, help="id of the GPU to use (default: none)")


def encoder_from_args(args: argparse.Namespace) -> tuple[str, ElmoEncoder]:
    """What the biLM is called, and its encoder."""
    device = f"cuda:{args.cuda_device}" if args.cuda_device >= 0 else "cpu"
    files = args.options_file, args.weight_file
    if any(files):
        if not all(files) or args.bilm is not None:
            raise ConfigurationError(
                "give --options-file together with --weight-file, and no --bilm with them"
            )
        return args.weight_file, ElmoEncoder.from_files(*files, device=device)
    bilm = args.bilm or "mini"
    if bilm in KNOWN_BILMS:
        return bilm, ElmoEncoder.from_name(bilm, device=device)
    return bilm, ElmoEncoder.from_archive(bilm, name=args.name, device=device)

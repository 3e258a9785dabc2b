"""
Write a biLM as options and weights, or as ONNX.

Write the biLM of an archive as options.json and weights.hdf5, the two files that AllenNLP, bilm-tf
and elmo_tasks read. The archive may contain any model with a biLM: a language model, a task model
with ELMo, or another model with the token embedder elmo_bilm.

With --onnx, write bilm.onnx in place of the two files: one file that onnxruntime runs without
PyTorch. It takes char_ids, 64-bit integers of shape (sentences, tokens, 50) with zeros at padding,
and gives layers, shape (sentences, layers, tokens, width), and elmo, their mean or a trained mix.
The archive may then also be the name of a biLM, such as base, its folder or its zip file.

examples:
  elmo-tasks export runs/mine my-bilm
  elmo-tasks export base my-onnx --onnx
"""

import argparse
from pathlib import Path

from elmo_tasks.commands.options import add_shared, package_folder
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.progress import working


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "archive_file",
        metavar="MODEL",
        help="the model.tar.gz or the folder of a training run; with --onnx also a biLM",
    )
    add("folder", metavar="DIR", help="the folder to write to")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--dtype",
        choices=("float16", "float32"),
        default="float32",
        help="the dtype of the weights (default: float32); AllenNLP reads both",
    )
    form.add_argument(
        "--onnx",
        action="store_true",
        help="write bilm.onnx, in float32; this needs pip install 'elmo-tasks[onnx]'",
    )
    add_shared(parser, "--force")
    add("--place", help="which mix --onnx takes, input or output, if the model has both")


def run(args: argparse.Namespace) -> None:
    with working("starting"):
        from elmo_tasks.archives.elmo_of_model import load_bilm
        from elmo_tasks.archives.onnx_file import ONNX_FILE, write_onnx
        from elmo_tasks.bilm.files.options import num_parameters
        from elmo_tasks.common.file_names import (
            MIX_FILE,
            OPTIONS_FILE,
            VOCABULARY_FILE,
            WEIGHTS_FILE,
        )
        from elmo_tasks.common.outputs import check_outputs
        from elmo_tasks.elmo.mix import ElmoMix
        from elmo_tasks.elmo.opening import open_elmo

    # A mix or a vocabulary in the folder would be taken for the mix or vocabulary of the biLM.
    of_bilm = (OPTIONS_FILE, WEIGHTS_FILE, MIX_FILE, VOCABULARY_FILE)
    files = [Path(args.folder) / name for name in ((ONNX_FILE,) if args.onnx else of_bilm)]
    check_outputs(files, [package_folder(args.archive_file)], args.force, [args.folder])
    if args.place is not None and not args.onnx:
        raise ConfigurationError("--place chooses a mix: give --onnx as well")
    if args.onnx:
        with working(f"opening {args.archive_file}"):
            model = open_elmo(args.archive_file)
            bilm, mix = model.bilm, model.mix(args.place)
        with working(f"writing {files[0]}"):
            write_onnx(files[0], bilm, mix or ElmoMix(bilm.num_layers))
        print(
            f"Wrote {files[0]}: the biLM of {model.name}, {num_parameters(bilm.options):,} "
            f"parameters; elmo is {'the mean of the layers' if mix is None else 'the trained mix'}."
        )
        return
    name, bilm = load_bilm(args.archive_file)
    bilm.to_files(args.folder, args.dtype)
    print(
        f"Wrote {files[0]} and {files[1]}: the biLM {name} of {args.archive_file}, "
        f"{num_parameters(bilm.options):,} parameters as {args.dtype}, "
        f"state {bilm.state_name}."
    )

"""
Write the ELMo vectors of a text to HDF5.

Write the vectors of a text, one tokenized sentence a line, to HDF5, in the format of the command
`elmo` of AllenNLP 0.x. With --split, the text is raw, and each sentence that spaCy's rules find
counts as a line. In a table (.csv, .tsv), JSON lines (.jsonl) and Parquet (.parquet), each row
counts as a line. Each line has a dataset of float32, named by the index of the line from 0. The
dataset `sentence_to_index` is a JSON object from sentences to these names; a sentence that occurs
several times has the name of its last line. A line without tokens has a dataset of 0 tokens.

With --shards or --ray, the text may have any size. OUT is a folder with a Parquet file for each
part of the text. A file has a row for each sentence: its index, tokens and vectors in float16. The
manifest, OUT/_manifest.json, is written last, and lists all files.

With --words, OUT is a text file in the format of word2vec, which gensim and others read. It has a
vector for each of the most frequent words: the mean over the word's occurrences in the text.

A line that cannot be read ends the command: mend it, and run the command again. If the command is
stopped or killed, run it again: it computes only what is missing. Until OUT.hdf5 is complete, the
vectors are in OUT.hdf5.partial. At the end both exist for a moment, so the disk needs room for
twice the size of OUT.hdf5.

examples:
  elmo-tasks embed text.txt text.hdf5
  elmo-tasks embed reviews.csv reviews.hdf5 --column review --split
  elmo-tasks embed 'news/*.txt.xz' news.hdf5 --average --bilm original
  elmo-tasks embed a.jsonl b.jsonl vectors --shards --processes 8
  elmo-tasks embed s3://bucket/text.gz s3://bucket/vectors --ray local
  elmo-tasks embed text.txt words.txt --words 20000
"""

import argparse
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_tasks.commands.options import (
    add_bilm,
    add_count,
    add_shared,
    add_texts,
    bilm_inputs,
    open_from_args,
    texts_from_args,
)
from elmo_tasks.common.errors import ConfigurationError

if TYPE_CHECKING:
    from elmo_tasks.elmo.encoder import ElmoEncoder
    from elmo_tasks.embed.corpus import Corpus
    from elmo_tasks.embed.parts import Engine

GOES_ON = "the same command goes on from here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_texts(parser)
    add("output_file", metavar="OUT", help="the file to write, or the folder")
    add_shared(parser, "--force")
    add_shared(parser, "--split", "--language")
    embedding = parser.add_mutually_exclusive_group()
    for name, text in {
        "all": "write all layers, layer 0 first: shape (layers, tokens, dim) (default)",
        "top": "write the top layer: shape (tokens, dim)",
        "average": "write the mean of all layers: shape (tokens, dim) (default with --words)",
        "mix": "write ELMo, equation (1), by the trained mix of a model: shape (tokens, dim)",
    }.items():
        embedding.add_argument(
            f"--{name}", dest="embedding", action="store_const", const=name, help=text
        )
    add("--place", help="which mix --mix takes, input or output, if the model has both")
    add_bilm(parser)
    add_count(
        parser,
        "--processes",
        None,
        "embed in N processes of this machine, which share the weights and have a thread each "
        "(default: one process); with --ray, in N processes of Ray (default: one for each GPU, or "
        "one for each CPU if there is no GPU)",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--shards", action="store_true", help="write a folder of Parquet and a manifest"
    )
    output.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="embed on Ray, to a folder as with --shards: local starts Ray on this machine alone; "
        "auto or HOST:6379 joins a cluster",
    )
    add_count(output, "--words", None, "write one vector a word, for the N most frequent words")


def inputs(args: argparse.Namespace) -> list[Any]:
    return list(args.input_file)


def run(args: argparse.Namespace) -> None:
    _refuse_contradictions(args)
    from elmo_tasks.common.files import lock
    from elmo_tasks.common.outputs import check_outputs

    # A run may continue in an output folder, or in the folder with the parts of a file.
    is_folder = args.shards or args.ray
    folder = args.output_file if is_folder else f"{args.output_file}.partial"
    files = () if is_folder else [args.output_file]
    check_outputs(files, [*args.input_file, *bilm_inputs(args)], args.force, [folder])
    if not (is_folder or args.words):
        _check_hdf5(args.output_file)

    is_local = "://" not in args.output_file
    # A missing file is noticed before the biLM is loaded.
    with lock(args.output_file) if is_local else nullcontext(), texts_from_args(args) as corpus:
        _embed(args, corpus)


def _refuse_contradictions(args: argparse.Namespace) -> None:
    if args.words and (args.processes or args.embedding == "all"):
        raise ConfigurationError(
            "--words writes one vector a word in one process: leave out --all and --processes"
        )
    if (args.ray or (args.processes or 1) > 1) and args.cuda_device >= 0:
        raise ConfigurationError(
            "leave out --cuda-device, which is for one process: --ray uses all GPUs"
        )
    if args.embedding != "mix" and args.place is not None:
        raise ConfigurationError("--place chooses a mix: give --mix as well")
    if not (args.shards or args.ray) and "://" in args.output_file:
        raise ConfigurationError(f"{args.output_file} is an address: give --shards as well")


def _check_hdf5(output: str) -> None:
    from elmo_tasks.common.records import COMPRESSED, KINDS

    if Path(output).suffix.lower() in (*KINDS, *COMPRESSED, ".npz", ".npy", ".pt", ".txt"):
        raise ConfigurationError(
            f"{output}: the vectors are written as HDF5: choose a name that ends in .hdf5, or give "
            "--shards for a folder of Parquet"
        )


def _embed(args: argparse.Namespace, corpus: "Corpus") -> None:
    # For several processes, this sets one thread, which must come before the biLM is loaded.
    engine = _engine(args)
    encoder = _encoder(args)
    embedding = args.embedding or ("average" if args.words else "all")
    if args.words:
        from elmo_tasks.embed.embed import embed_words

        embed_words(corpus, args.output_file, encoder, embedding, args.words)
    elif args.shards or args.ray:
        # pyarrow is imported only when it is needed.
        from elmo_tasks.embed.shards import embed_shards

        embed_shards(corpus, args.output_file, encoder, embedding, engine, args.force)
    else:
        from elmo_tasks.embed.embed import embed

        embed(corpus, Path(args.output_file), encoder, embedding, engine, args.force)


def _encoder(args: argparse.Namespace) -> "ElmoEncoder":
    from elmo_tasks.elmo.encoder import ElmoEncoder

    model = open_from_args(args)
    mix = model.mix(args.place) if args.embedding == "mix" else None
    if args.embedding == "mix" and mix is None:
        raise ConfigurationError(
            f"{model.name} has no trained mix: give --bilm a model that has one, or --average, "
            "which writes the mean of the layers"
        )
    return ElmoEncoder(model.bilm, mix)


def _engine(args: argparse.Namespace) -> "Engine":
    from elmo_tasks.common.threads import one_thread
    from elmo_tasks.common.worker_processes import in_processes

    if args.ray:
        from elmo_tasks.embed.ray_engine import on_ray

        return partial(on_ray, args.ray, args.processes)
    if args.processes in (None, 1):
        return map
    one_thread()
    return partial(in_processes, args.processes)

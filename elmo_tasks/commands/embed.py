"""
Write the ELMo vectors of a text to HDF5.

Write the vectors of a text, one tokenized sentence a line, to HDF5, in the format of the command
`elmo` of AllenNLP 0.x. With --split, the text is raw, and each sentence that spaCy's rules find
counts as a line. In a table (.csv, .tsv), JSON lines (.jsonl) and Parquet (.parquet), each row
counts as a line. Each line has a dataset of float32, named by the index of the line from 0. The
dataset `sentence_to_index` is a JSON object from sentences to these names; a sentence that occurs
several times has the name of its last line. A line without tokens has a dataset of 0 tokens.

With --shards or --on ray, the text may have any size. OUT is a folder of Parquet, a file for each
part of the text. It has a row for each sentence: its index, tokens and vectors in float16. The
manifest, OUT/_manifest.json, is written last, and lists all files. Lines that cannot be read are
left out, counted, and listed there.

With --words, OUT is a file of word2vec, which gensim and others read. It has a vector for each of
the most frequent words: the mean over the word's occurrences in the text.

If the command is stopped or killed, run it again: it computes only what is missing. Until OUT.hdf5
is complete, the vectors are in OUT.hdf5.partial. At the end both exist for a moment, so the disk
needs room for twice the size of OUT.hdf5.

examples:
  elmo-tasks embed text.txt text.hdf5
  elmo-tasks embed text.txt.gz text.hdf5 --average --bilm original
  elmo-tasks embed reviews.csv reviews.hdf5 --column review --split
  elmo-tasks embed 'news/*.txt.xz' news.hdf5 --processes 8
  elmo-tasks embed a.jsonl b.jsonl vectors --shards parquet --processes 8
  elmo-tasks embed s3://bucket/text.gz s3://bucket/vectors --on ray
  elmo-tasks embed text.txt words.txt --words text --max-words 20000
  elmo-tasks embed text.txt text.hdf5 --top \\
      --options options.json --weights weights.hdf5

to read it:
  with h5py.File("text.hdf5") as file:
      vectors = file["0"][...]                          # the first line
      names = json.loads(file["sentence_to_index"][0])  # {"A line .": "0", ...}
"""

import argparse
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_tasks.commands.options import (
    add_bilm,
    add_count,
    add_shared,
    add_texts,
    open_from_args,
    texts_from_args,
)
from elmo_tasks.common.errors import ConfigurationError

if TYPE_CHECKING:
    from elmo_tasks.elmo.encoder import ElmoEncoder
    from elmo_tasks.embed.corpus import Corpus
    from elmo_tasks.embed.parts import Engine

GOES_ON = "the same command goes on from here"

# The suffixes that HDF5 files may have.
_SUFFIXES = ("", ".hdf5", ".h5", ".hdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_texts(parser)
    add("output_file", metavar="OUT", help="the file to write, or the folder")
    add_shared(parser, "--split", "--language")
    embedding = parser.add_mutually_exclusive_group()
    for name, described in {
        "all": "write all layers, layer 0 first: shape (layers, tokens, dim) (default)",
        "top": "write the top layer: shape (tokens, dim)",
        "average": "write the mean of all layers: shape (tokens, dim) (default with --words)",
        "mix": "write ELMo, equation (1), by the trained mix of a model: shape (tokens, dim)",
        "token": "with --words: write the token layer, the same in every sentence",
    }.items():
        embedding.add_argument(
            f"--{name}", dest="embedding", action="store_const", const=name, help=described
        )
    add("--place", help="which mix of a model --mix takes, input or output, if it has both")
    add_bilm(parser)
    add_count(
        parser,
        "--processes",
        None,
        "embed in N processes of this machine, which share the weights and have a thread each "
        "(default: one process); with --on ray, in N processes of Ray (default: one for each GPU, "
        "or if there is none, for each CPU)",
    )
    add("--shards", choices=["parquet"], help="write a folder of Parquet and a manifest")
    add_count(parser, "--part-tokens", 65_536, "tokens in a file of --shards")
    add(
        "--words",
        choices=("text", "binary"),
        help="write one vector a word, in this format of word2vec",
    )
    words = "the N most frequent words, with --words (default: 50000)"
    add_count(parser, "--max-words --num-words", None, words)
    add("--on", choices=["ray"], help="embed on Ray, to --shards parquet")
    add(
        "--address",
        help="the address of the cluster of Ray to join, such as auto or HOST:6379 "
        "(default: start Ray on this machine alone)",
    )
    add(
        "--use-store",
        metavar="DIR",
        help="the folder of a layer store, such as that of a training; rounds to float16",
    )
    add(
        "--forget-sentences",
        action="store_true",
        help="leave out sentence_to_index, which must fit into memory",
    )
    add_count(
        parser,
        "--batch-tokens",
        2048,
        "tokens per batch, padding included; a batch of up to 16 long lines has up to eight times "
        "as many",
    )
    add("--force", action="store_true", help="overwrite OUT, and what an earlier run has begun")


def run(args: argparse.Namespace) -> None:
    _refuse_contradictions(args)
    # A missing file is noticed before the biLM is loaded.
    with texts_from_args(args, args.output_file) as corpus:
        _embed(args, corpus)


def _refuse_contradictions(args: argparse.Namespace) -> None:
    if args.on is None and args.address is not None:
        raise ConfigurationError("--address is for a Ray cluster: give --on ray as well")
    if args.words is None and (args.max_words is not None or args.embedding == "token"):
        raise ConfigurationError("--max-words and --token are for one vector a word: give --words")
    if args.words is not None and (
        args.shards or args.on or args.processes or args.embedding == "all"
    ):
        raise ConfigurationError(
            "--words writes one vector a word in one process: leave out --all, --shards, --on and "
            "--processes"
        )
    several = args.on is not None or (args.processes or 1) > 1
    if several and args.cuda_device >= 0:
        raise ConfigurationError(
            "leave out --cuda-device, which is for one process: --on ray uses all GPUs"
        )
    folder = args.shards or args.on
    if folder is None and "://" in args.output_file:
        raise ConfigurationError(f"{args.output_file} is an address: give --shards as well")
    path = Path(args.output_file)
    if folder is None and args.words is None and path.suffix not in _SUFFIXES:
        raise ConfigurationError(
            f"{path} would be written as HDF5: name it {path.with_suffix('.hdf5').name}, or give "
            "--shards for a folder of files"
        )
    if folder is None and path.is_dir():
        raise ConfigurationError(f"{path} is a folder; choose another file")
    if folder is None and path.exists() and not args.force:
        raise ConfigurationError(
            f"{path} exists; choose another file, or overwrite it with --force"
        )
    if folder is not None and path.is_file():
        raise ConfigurationError(f"{path} is a file; choose another folder")


def _embed(args: argparse.Namespace, corpus: "Corpus") -> None:
    from elmo_tasks.embed.embed import embed
    from elmo_tasks.embed.words import NUM_WORDS, embed_words

    engine = _engine(args)
    encoder = _encoder(args)
    embedding = args.embedding or ("average" if args.words else "all")
    settings = {"begin_anew": args.force, "engine": engine}
    if args.words:
        num_words = args.max_words or NUM_WORDS
        embed_words(corpus.texts, args.output_file, encoder, embedding, args.words, num_words)
    elif args.shards or args.on:
        # pyarrow is imported only when it is needed.
        from elmo_tasks.embed.shards import embed_shards

        embed_shards(corpus, args.output_file, encoder, embedding, args.part_tokens, **settings)
    else:
        with_sentences = not args.forget_sentences
        embed(corpus, Path(args.output_file), encoder, embedding, with_sentences, **settings)


def _encoder(args: argparse.Namespace) -> "ElmoEncoder":
    from elmo_tasks.elmo.encoder import ElmoEncoder
    from elmo_tasks.elmo.store.layer_store import LayerStore

    # Most sentences occur only once, so layers kept in memory would hardly be used again.
    store = LayerStore(args.use_store, memory=0) if args.use_store else None
    mixes = args.embedding == "mix"
    if not mixes and args.place is not None:
        raise ConfigurationError("--place chooses a mix: give --mix as well")
    if mixes and args.options:
        raise ConfigurationError("--mix needs --bilm with a model or a folder that has a mix")
    opened = open_from_args(args, store)
    mix = opened.mix(args.place) if mixes else None
    if mixes and mix is None:
        raise ConfigurationError(
            f"{opened.name} has no trained mix: give --bilm a model that has one, or --average, "
            "which writes the mean of the layers"
        )
    return ElmoEncoder(opened.bilm, mix, batch_tokens=args.batch_tokens)


def _engine(args: argparse.Namespace) -> "Engine":
    from elmo_tasks.common.threads import one_thread
    from elmo_tasks.common.worker_processes import in_processes

    if args.on == "ray":
        if args.address is not None and os.path.exists(os.path.expanduser("~/.ray/auth_token")):
            # A process that joins a cluster must show a token, unless the cluster was set up
            # otherwise. Ray shows the token only if this variable is set before Ray is imported.
            os.environ.setdefault("RAY_AUTH_MODE", "token")
        from elmo_tasks.embed.ray_engine import on_ray

        return partial(on_ray, args.address, args.processes)
    if args.processes in (None, 1):
        return map
    one_thread()
    return partial(in_processes, args.processes)

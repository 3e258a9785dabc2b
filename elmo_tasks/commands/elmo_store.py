import argparse
import re

from allennlp.common import Params

from elmo_tasks.analysis.config_store import fill_from_config, find_store_path
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.common.errors import ConfigurationError, check_positive
from elmo_tasks.elmo.store.contents import Contents, contents, merge


class ElmoStore(Command):
    """
    Fills the store of a biLM before a training, and shows what a store contains.

    Registered as a `Subcommand` with name "elmo-store".
    """

    name = "elmo-store"
    can_be_continued = True
    help = CATALOG["store"].help
    description = """
Compute the layers of every sentence in the training and validation data of a config, with the biLM
of its model, and save them in the biLM's store, where trainings read them. Layers that the store
has already are not computed, so the command may be stopped and run again. --processes uses several
cores of this machine. --shard splits the work over machines: each writes a file of its own. A store
reads all files of its folder, so the machines may share a folder, or the files may be copied into
one folder. --merge adds the contents of other stores.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("config", metavar="CONFIG", nargs="?", help="the path of a training config")
        add("--path", help="the folder of the store (default: that of the config)")
        add(
            "--shard",
            metavar="I/N",
            default="1/1",
            help="compute only the I-th of N parts, into the file I-of-N.sqlite",
        )
        add("--processes", type=int, default=1, help="processes that compute (default: 1)")
        add("--info", action="store_true", help="show what the store contains, and compute nothing")
        add(
            "--merge",
            metavar="OTHER",
            nargs="+",
            default=[],
            help="add the contents of the stores at these paths, and compute nothing",
        )
        add("--batch-tokens", type=int, default=2048, help="tokens per batch (default: 2048)")
        add("--cuda-device", type=int, default=-1, help="the index of the GPU (default: the CPU)")
        add("-o", "--overrides", default="", help="a JSON object with changes to the config")

    def run(self, args: argparse.Namespace) -> None:
        check_positive("--processes", args.processes)
        if not args.config and not (args.path and (args.info or args.merge)):
            raise ConfigurationError(
                "give the path of a training config, or --path with --info or --merge"
            )
        config = Params.from_file(args.config, args.overrides).as_dict() if args.config else {}
        path = args.path or find_store_path(config)
        for other in args.merge:
            print(f"{merge(path, other):,} entries of {other} are in {path}")
        if not args.info and not args.merge:
            part, num_parts = _parse_shard(args.shard)
            fill_from_config(
                config,
                path,
                part,
                num_parts,
                args.batch_tokens,
                args.cuda_device,
                args.processes,
            )
        print(_describe(path, contents(path)))


def _parse_shard(shard: str) -> tuple[int, int]:
    """Returns the index of a part, from 0, and the number of parts."""
    match = re.fullmatch(r"(\d+)/(\d+)", shard)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ConfigurationError(
            f"--shard must be I/N with I from 1 to N, such as 1/2, not {shard!r}"
        )
    return int(match[1]) - 1, int(match[2])


def _describe(path: str, held: Contents) -> str:
    """Returns the size of a store and a table with a row for each biLM."""
    num_entries = sum(share.num_sentences for share in held.shares)
    lines = [
        f"{path}: {num_entries:,} entries of {held.num_sentences:,} sentences, "
        f"{held.file_bytes / 1e6:,.1f} MB on disk"
    ]
    row = "{:20} {:9} {:8} {:16} {:>12} {:>12}"
    if held.shares:
        lines.append(row.format("biLM", "state", "dtype", "fingerprint", "sentences", "MB"))
    for owner, num_sentences, num_bytes in held.shares:
        about = [owner.about[name] for name in ("bilm", "state", "dtype")]
        counts = f"{num_sentences:,}", f"{num_bytes / 1e6:,.1f}"
        lines.append(row.format(*about, owner.key().hex()[:16], *counts))
    return "\n".join(lines)

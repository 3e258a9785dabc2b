import argparse
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Params, Tqdm
from allennlp.common.util import lazy_groups_of
from allennlp.data import DatasetReader, Instance

from elmo_tasks.bilm import BiLm, bilm_from_config
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.readers.distinct_texts import DistinctTexts
from elmo_tasks.store.contents import Contents, contents, merge
from elmo_tasks.store.layer_store import LayerStore

_DESCRIPTION = """
Compute the layers of every sentence in the training and validation data of a config, with the biLM
of its model, and keep them in the biLM's store, so that no training has to. What is there already
is passed over: the command may be stopped and run again. The work can be split, with --shard, over
processes that share a path, or over machines, each with a path of its own, merged afterwards.
"""

# Sentences that are looked up at once.
_GROUP = 1000


@Subcommand.register("elmo-store")
class ElmoStore(Subcommand):
    """
    Fills the store of a biLM beforehand, and says what one holds.

    Registered as a `Subcommand` with name "elmo-store".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name, description=_DESCRIPTION, help="Fill the store of a biLM's layers."
        )
        subparser.add_argument("config", metavar="CONFIG", nargs="?", help="path of a config")
        subparser.add_argument("--path", help="the folder of the store, where not the config's")
        subparser.add_argument(
            "--shard", metavar="I/N", default="1/1", help="compute the I-th of N parts only"
        )
        subparser.add_argument(
            "--info", action="store_true", help="say what the store holds, and compute nothing"
        )
        subparser.add_argument(
            "--merge",
            metavar="OTHER",
            nargs="+",
            default=[],
            help="add what the stores at these paths hold, and compute nothing",
        )
        subparser.add_argument("--batch-tokens", type=int, default=2048, help="tokens in a batch")
        subparser.add_argument(
            "--cuda-device", type=int, default=-1, help="id of the GPU to use, if any"
        )
        subparser.add_argument(
            "-o", "--overrides", default="", help="a JSON object with changes to the config"
        )
        subparser.set_defaults(func=_store_from_args)
        return subparser


def _store_from_args(args: argparse.Namespace) -> None:
    try:
        config = Params.from_file(args.config, args.overrides).as_dict() if args.config else {}
        path = args.path or _find_bilm(config).get("store", {}).get("path")
        if path is None:
            raise ConfigurationError("the biLM of the config has no store with a path: give --path")
        for other in args.merge:
            print(f"{merge(path, other):,} entries of {other} are in {path}")
        if not args.info and not args.merge:
            fill(config, path, args.shard, args.batch_tokens, args.cuda_device)
        print(describe(path, contents(path)))
    except (ConfigurationError, OSError) as error:
        sys.exit(f"elmo-store: {error}")


def fill(
    config: dict[str, Any],
    path: str,
    shard: str = "1/1",
    batch_tokens: int = 2048,
    cuda_device: int = -1,
) -> int:
    """
    Computes what the store at `path` lacks of the sentences of a config, and returns how many
    sentences that were. The parameters are those of the command line.
    """
    part, num_parts = _parse_shard(shard)
    bilm = _load_bilm(config, path).to(cuda_device if cuda_device >= 0 else "cpu")
    texts = DistinctTexts(_instances(config))
    if len(texts) == 0:
        raise ConfigurationError("the config's data has no text with an elmo_characters indexer")
    numbers = [number for number in range(len(texts)) if _hash(texts[number]) % num_parts == part]
    missing = list(_missing(bilm, texts, numbers))
    print(f"{len(numbers):,} sentences, of which {path} lacks {len(missing):,}")
    with Tqdm.tqdm(total=sum(map(texts.length, missing)), unit=" tokens") as progress:
        for batch in batches_by_length(list(map(texts.length, missing)), batch_tokens):
            sentences = [texts[missing[place]] for place in batch]
            bilm(_padded(sentences).to(bilm.char_cnn.embedding.device))
            progress.update(sum(map(len, sentences)))
    return len(missing)


def describe(path: str, held: Contents) -> str:
    """What a store holds, in words and a table."""
    num_entries = sum(share.num_sentences for share in held.shares)
    lines = [
        f"{path}: {num_entries:,} entries of {held.num_sentences:,} sentences, "
        f"{held.file_bytes / 1e6:,.1f} MB on disk"
    ]
    row = "{:20} {:9} {:8} {:16} {:>12} {:>12}"
    for number, (owner, num_sentences, num_bytes) in enumerate(held.shares):
        if number == 0:
            lines.append(row.format("biLM", "state", "dtype", "fingerprint", "sentences", "MB"))
        about = [owner.about[name] for name in ("bilm", "state", "dtype")]
        counts = f"{num_sentences:,}", f"{num_bytes / 1e6:,.1f}"
        lines.append(row.format(*about, owner.key().hex()[:16], *counts))
    return "\n".join(lines)


def _load_bilm(config: dict[str, Any], path: str) -> BiLm:
    """The biLM of a config, with a store at the path; whole, so that only weights can be amiss."""
    params = _find_bilm(config)
    store = {**params.get("store", {}), "path": path, "memory": 0}
    return bilm_from_config({**params, "store": store}).eval()


def _find_bilm(config: Any) -> dict[str, Any]:
    """The arguments of the one biLM in a config."""
    found = list(_bilms(config.get("model")))
    if not found:
        raise ConfigurationError("the model of the config has no biLM")
    if any(params != found[0] for params in found):
        raise ConfigurationError("the model of the config has several biLMs that differ")
    return found[0]


def _bilms(config: Any) -> Iterator[dict[str, Any]]:
    if isinstance(config, dict):
        for key, value in config.items():
            if key == "bilm" and isinstance(value, dict):
                yield value
            else:
                yield from _bilms(value)


def _parse_shard(shard: str) -> tuple[int, int]:
    """The number of a part, from 0, and how many there are."""
    match = re.fullmatch(r"(\d+)/(\d+)", shard)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ConfigurationError(f"a shard is I/N with I from 1 to N, as 1/2, not {shard!r}")
    return int(match[1]) - 1, int(match[2])


def _instances(config: dict[str, Any]) -> Iterator[Instance]:
    """Those to train on and those to validate with."""
    reader = config.get("dataset_reader")
    readers = {"train": reader, "validation": config.get("validation_dataset_reader") or reader}
    for name, params in readers.items():
        data_path = config.get(f"{name}_data_path")
        if data_path is not None:
            instances = DatasetReader.from_params(Params(params)).read(data_path)
            yield from Tqdm.tqdm(instances, desc=f"reading {data_path}")


def _missing(bilm: BiLm, texts: DistinctTexts, numbers: list[int]) -> Iterator[int]:
    """The texts that the store lacks."""
    assert isinstance(bilm.store, LayerStore)
    source = bilm.source()
    for group in lazy_groups_of(numbers, _GROUP):
        lacks = bilm.store.lacks(source, [texts[number] for number in group])
        yield from (number for number, lacking in zip(group, lacks) if lacking)


def _padded(sentences: list[numpy.ndarray]) -> torch.Tensor:
    """Char ids of shape (batch, length, 50)."""
    tensors = [torch.from_numpy(ids.astype(numpy.int64)) for ids in sentences]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)


def _hash(char_ids: numpy.ndarray) -> int:
    """The same on every machine, so that the parts of a split are."""
    return int.from_bytes(hash_bytes(char_ids.tobytes()), "little")

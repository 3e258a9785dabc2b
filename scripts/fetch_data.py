"""
Fetches the data sets that are free from their official addresses, under their official names.

Existing files are kept. If one source fails, the others are fetched all the same. A file with its
final name is complete: it is written as `.part`, and renamed after its contents have been checked.
"""

import argparse
import gzip
import itertools
import json
import os
import shutil
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from tqdm import tqdm


class Source(NamedTuple):
    """
    One file on a server, and the data files in it.

    # Parameters

    host: The part of the address that `--mirror` replaces.
    path: The rest of the address; a `.zip` is unpacked.
    folder: The folder of the data files, within the data folder.
    inside: The folder of the data files within the archive, with its slash.
    sizes: Expected number of lines of each data file (of questions for a `.json`); None if unknown.
    first_lines: How many lines of the only member of the archive are kept; packed by gzip.
    """

    host: str
    path: str
    folder: str
    inside: str
    sizes: dict[str, int | None]
    first_lines: int | None = None


SOURCES = [
    Source(
        host="https://nlp.stanford.edu",
        path="/sentiment/trainDevTestTrees_PTB.zip",
        folder="sst",
        inside="trees/",
        sizes={"train.txt": 8_544, "dev.txt": 1_101, "test.txt": 2_210},
    ),
    Source(
        host="https://nlp.stanford.edu",
        path="/projects/snli/snli_1.0.zip",
        folder="snli",
        inside="snli_1.0/",
        sizes={
            "snli_1.0_train.jsonl": 550_152,
            "snli_1.0_dev.jsonl": 10_000,
            "snli_1.0_test.jsonl": 10_000,
        },
    ),
    Source(
        host="https://rajpurkar.github.io",
        path="/SQuAD-explorer/dataset/train-v1.1.json",
        folder="squad",
        inside="",
        sizes={"train-v1.1.json": 87_599},
    ),
    Source(
        host="https://rajpurkar.github.io",
        path="/SQuAD-explorer/dataset/dev-v1.1.json",
        folder="squad",
        inside="",
        sizes={"dev-v1.1.json": 10_570},
    ),
]
GLOVE = {
    "6B": Source(
        host="https://nlp.stanford.edu",
        path="/data/glove.6B.zip",
        folder="vectors",
        inside="glove.6B.100d.txt",
        sizes={"glove.6B.100d.120k.txt.gz": None},
        first_lines=120_000,
    ),
    "840B": Source(
        host="https://nlp.stanford.edu",
        path="/data/glove.840B.300d.zip",
        folder="",
        inside="",
        sizes={"glove.840B.300d.txt": None},
    ),
}

NOT_FREE = """\
CoNLL-2003 is not free and was not fetched. Its text is the Reuters corpus, which NIST licenses
(https://trec.nist.gov/data/reuters/reuters.html). Put eng.train, eng.testa and eng.testb into
{data}/conll2003."""

NOT_ASKED = """\
GloVe's vectors are free but large. `--glove 6B` keeps the 120,000 most frequent words of a download
of 0.9 GB (40 MB); `--glove 840B` keeps the whole file, a download of 2 GB."""


class FetchError(Exception):
    """A file cannot be fetched; the message says why in one line."""


def main() -> None:
    args = parse_args()
    glove = [] if args.glove is None else args.glove or ["840B"]
    sources = SOURCES + [GLOVE[name] for name in glove]
    errors: list[str] = []
    try:
        for source in sources:
            try:
                fetch(source, args.data, args.mirror)
            except (FetchError, OSError) as error:
                print(f"{args.data / source.folder}: not fetched")
                errors.append(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted; run it again to fetch what is missing")
    print(NOT_FREE.format(data=args.data))
    if not glove:
        print(NOT_ASKED)
    if errors:
        # A link is refused for every source.
        reasons = "; ".join(dict.fromkeys(errors))
        sys.exit(f"error: {reasons}; run it again to fetch what is missing")


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Fetches SST, SNLI and SQuAD 1.1 from their official addresses.",
        epilog="CoNLL-2003 is not free: its Reuters text needs a licence from NIST.",
    )
    parser.add_argument(
        "--data", type=Path, default=Path("data"), help="the folder to fill (default: data)"
    )
    parser.add_argument(
        "--glove",
        nargs="*",
        choices=list(GLOVE),
        help="fetch GloVe vectors too: 6B (100 numbers a word, the 120,000 most frequent words), "
        "840B (300 numbers a word, the default), or both",
    )
    parser.add_argument(
        "--mirror",
        metavar="URL",
        help="an address to use instead of https:// and the official hosts",
    )
    return parser.parse_args()


def fetch(source: Source, data: Path, mirror: str | None) -> None:
    """Fetches the data files of `source` that the folder `data` lacks."""
    folder = data / source.folder
    for path in (data, folder):
        if path.is_symlink():
            raise FetchError(
                f"{path} is a symbolic link, and nothing is written through a link;"
                " remove the link or name another folder with --data"
            )
    missing = []
    for name in source.sizes:
        if os.path.lexists(folder / name):
            print(f"{folder / name}: kept")
        else:
            missing.append(name)
    if not missing:
        return

    url = (mirror or source.host).rstrip("/") + source.path
    with folder_for(folder), part_of(folder / Path(url).name) as download:
        copy_url(url, download)
        for name in missing:
            if not url.endswith(".zip"):
                finish(download, folder / name, source.sizes[name])
                continue
            with part_of(folder / name) as part:
                if source.first_lines is None:
                    unpack(download, source.inside + name, part, url)
                else:
                    unpack(download, source.inside, part, url, source.first_lines)
                finish(part, folder / name, source.sizes[name])


@contextmanager
def folder_for(folder: Path) -> Iterator[None]:
    """Makes a folder and those above it while the block runs, and removes what stays empty."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for path in made:
            with suppress(OSError):
                path.rmdir()


@contextmanager
def part_of(path: Path) -> Iterator[Path]:
    """Yields the path to write `path` to until it is complete, and removes that file at the end."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def copy_url(url: str, path: Path) -> None:
    try:
        with urlopen(url, timeout=60) as response, path.open("wb") as file:
            length = response.length
            with tqdm.wrapattr(
                response, "read", total=length, desc=url.rpartition("/")[2]
            ) as reader:
                shutil.copyfileobj(reader, file, 1 << 20)
    except (HTTPException, OSError, ValueError) as error:
        raise FetchError(f"cannot fetch {url}: {error}") from error
    # A broken connection looks like the end of the file.
    got = path.stat().st_size
    if length is not None and got != length:
        raise FetchError(f"cannot fetch {url}: it broke off after {got:,} of {length:,} bytes")


def unpack(
    archive: Path, member: str, path: Path, url: str, first_lines: int | None = None
) -> None:
    """Writes a member of an archive, or only its first lines and these packed by gzip."""
    try:
        with (
            zipfile.ZipFile(archive) as files,
            files.open(member) as source,
            path.open("wb") as file,
        ):
            if first_lines is None:
                shutil.copyfileobj(source, file, 1 << 20)
            else:
                with gzip.open(file, "wb") as packed:
                    packed.writelines(itertools.islice(source, first_lines))
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise FetchError(f"cannot unpack {member} of {url}: {error}") from error


def finish(part: Path, path: Path, size: int | None) -> None:
    """Checks the size of `part`, and renames it to `path`."""
    if size is not None and (got := count(part, path.suffix)) != size:
        raise FetchError(f"{path}: expected {size:,} examples, but fetched {got:,}; it is not kept")
    part.replace(path)
    print(f"{path}: fetched")


def count(path: Path, suffix: str) -> int:
    """Returns the number of questions of a `.json` file, or of lines of another file."""
    with path.open("rb") as file:
        if suffix != ".json":
            return sum(1 for _ in file)
        try:
            articles = json.load(file)["data"]
            paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
            return sum(len(paragraph["qas"]) for paragraph in paragraphs)
        except (ValueError, KeyError, TypeError):
            return 0


if __name__ == "__main__":
    main()

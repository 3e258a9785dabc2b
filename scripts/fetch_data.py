"""
Fetches the data sets that are free from their official addresses, under their official names.

Existing files are kept. If one source fails, the others are fetched all the same. A file gets its
name when it is whole.
"""

import argparse
import gzip
import itertools
import json
import socket
import sys
import tarfile
import tempfile
import zipfile
import zlib
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlretrieve

from tqdm import tqdm


class Source(NamedTuple):
    """One file on a server, and the data files in it."""

    # The part of the address that `--mirror` replaces, and the rest. A `.zip` is unpacked. The
    # reviews of a `.tar.gz`, a file each, become JSON lines; every fifth is in the file with `dev`
    # in its name.
    host: str
    path: str
    # The folder of the data files within the data folder, and within the archive, with its slash.
    folder: str
    inside: str
    # The data files.
    names: list[str]
    # How many lines of the only member of the archive are kept; packed by gzip.
    first_lines: int | None = None


STANFORD = "https://nlp.stanford.edu"
SQUAD = "https://rajpurkar.github.io"
SOURCES = [
    Source(
        STANFORD,
        "/sentiment/trainDevTestTrees_PTB.zip",
        "sst",
        "trees/",
        ["train.txt", "dev.txt", "test.txt"],
    ),
    Source(
        STANFORD,
        "/projects/snli/snli_1.0.zip",
        "snli",
        "snli_1.0/",
        [f"snli_1.0_{part}.jsonl" for part in ("train", "dev", "test")],
    ),
    *(
        Source(SQUAD, f"/SQuAD-explorer/dataset/{name}", "squad", "", [name])
        for name in ("train-v1.1.json", "dev-v1.1.json")
    ),
]
IMDB = Source(
    "https://ai.stanford.edu",
    "/~amaas/data/sentiment/aclImdb_v1.tar.gz",
    "movie-reviews",
    "aclImdb/train/",
    ["imdb.train.jsonl", "imdb.dev.jsonl"],
)
GLOVE = {
    "6B": Source(
        STANFORD,
        "/data/glove.6B.zip",
        "vectors",
        "glove.6B.100d.txt",
        ["glove.6B.100d.120k.txt.gz"],
        first_lines=120_000,
    ),
    "840B": Source(STANFORD, "/data/glove.840B.300d.zip", "", "", ["glove.840B.300d.txt"]),
}

NOT_FREE = """\
CoNLL-2003 is not free and was not fetched. Its text is the Reuters corpus, which NIST licenses
(https://trec.nist.gov/data/reuters/reuters.html). Put eng.train, eng.testa and eng.testb into
{data}/conll2003."""

NOT_ASKED = """\
GloVe's vectors are free but large. `--glove 6B` keeps the 120,000 most frequent words of a download
of 0.9 GB (40 MB); `--glove 840B` keeps the whole file, a download of 2 GB."""


def main() -> None:
    args = parse_args()
    glove = [] if args.glove is None else args.glove or ["840B"]
    errors: list[str] = []
    try:
        for source in SOURCES + [IMDB] * args.imdb + [GLOVE[name] for name in glove]:
            try:
                fetch(source, args.data, args.mirror)
            except OSError as error:
                print(f"{args.data / source.folder}: not fetched")
                errors.append(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted; run it again to fetch what is missing")
    print(NOT_FREE.format(data=args.data))
    if not glove:
        print(NOT_ASKED)
    if errors:
        sys.exit(f"error: {'; '.join(errors)}; run it again to fetch what is missing")


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Fetches SST, SNLI and SQuAD 1.1 from their official addresses.",
        epilog="CoNLL-2003 is not free: its Reuters text needs a licence from NIST.",
    )
    add = parser.add_argument
    add("--data", type=Path, default=Path("data"), help="the folder to fill (default: data)")
    add(
        "--glove",
        nargs="*",
        choices=list(GLOVE),
        help="fetch GloVe vectors too: 6B (100 numbers a word, the 120,000 most frequent words), "
        "840B (300 numbers a word, the default), or both",
    )
    add("--imdb", action="store_true", help="fetch IMDB's 25,000 film reviews too (84 MB)")
    add("--mirror", metavar="URL", help="an address in place of https:// and the official hosts")
    return parser.parse_args()


def fetch(source: Source, data: Path, mirror: str | None) -> None:
    """Fetches the data files of `source` that the folder `data` lacks."""
    folder = data / source.folder
    missing = [name for name in source.names if not (folder / name).exists()]
    for name in set(source.names) - set(missing):
        print(f"{folder / name}: kept")
    if not missing:
        return
    url = (mirror or source.host).rstrip("/") + source.path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as aside:
        download = Path(aside, "download")
        copy_url(url, download)
        for name in missing:
            part = download
            if url.endswith(".zip"):
                part = unpack(download, source, name, url)
            elif url.endswith(".tar.gz"):
                part = join_reviews(download, source, name, url)
            part.replace(folder / name)
            print(f"{folder / name}: fetched")


def copy_url(url: str, path: Path) -> None:
    try:
        with tqdm(desc=url.rpartition("/")[2], unit="B", unit_scale=True) as progress:

            def show(blocks: int, size: int, total: int) -> None:
                if total > 0:
                    progress.total = total
                    progress.update(min(blocks * size, total) - progress.n)

            # Raises an error if the connection breaks off.
            urlretrieve(url, path, show)
    except (HTTPException, OSError, ValueError) as error:
        raise OSError(f"cannot fetch {url}: {error}") from error


def unpack(archive: Path, source: Source, name: str, url: str) -> Path:
    """Unpacks a data file beside its archive, or only its first lines and these packed by gzip."""
    member = source.inside if source.first_lines else source.inside + name
    path = archive.with_name(name)
    try:
        open_file = gzip.open if source.first_lines else open
        with zipfile.ZipFile(archive) as files, files.open(member) as all_lines:
            first_lines = itertools.islice(all_lines, source.first_lines)
            with open_file(path, "wb") as file:
                file.writelines(first_lines)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise OSError(f"cannot unpack {member} of {url}: {error}") from error
    return path


def join_reviews(archive: Path, source: Source, name: str, url: str) -> Path:
    """
    Writes the reviews in the folders `neg` and `pos` of an archive as JSON lines, without HTML:
    every fifth of each label, or the others.
    """
    reviews: dict[str, dict[str, str]] = {"neg": {}, "pos": {}}
    try:
        with tarfile.open(archive) as files:
            for member in files:
                label, _, file_name = member.name.removeprefix(source.inside).partition("/")
                if not (member.name.startswith(source.inside) and label in reviews):
                    continue
                if content := files.extractfile(member):
                    reviews[label][file_name] = content.read().decode().replace("<br />", " ")
    except (tarfile.TarError, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise OSError(f"cannot unpack {source.inside} of {url}: {error}") from error
    path = archive.with_name(name)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for label, texts in reviews.items():
            for index, (_, text) in enumerate(sorted(texts.items())):
                if (index % 5 == 0) == ("dev" in name):
                    file.write(json.dumps({"label": label, "text": text}) + "\n")
    return path


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    main()

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from scripts.fetch_data import IMDB, SOURCES

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch_data.py"
SST, SNLI, TRAIN, DEV = (source.path.lstrip("/") for source in SOURCES)
FREE = {
    f"{source.folder}/{name}": size for source in SOURCES for name, size in source.sizes.items()
}


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the official hosts: as many examples, but without content."""
    root = tmp_path_factory.mktemp("official")
    for source in SOURCES[:2]:
        lines = {source.inside + name: "{}\n" * (size or 0) for name, size in source.sizes.items()}
        write_zip(root / source.path[1:], lines)
    words = "".join(f"word{row} 0.1\n" for row in range(120_001))
    write_zip(root / "data/glove.6B.zip", {"glove.6B.50d.txt": "", "glove.6B.100d.txt": words})
    write_zip(root / "data/glove.840B.300d.zip", {"glove.840B.300d.txt": "the 0.1\n"})
    for source in SOURCES[2:]:
        (size,) = source.sizes.values()
        path = root / source.path[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"data": [{"paragraphs": [{"qas": [0] * (size or 0)}]}]}))
    write_reviews(root / IMDB.path[1:])
    return root


def write_reviews(path: Path) -> None:
    """Writes 12,500 reviews of each label, and others, which are not wanted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folders = {"train/pos": 12_500, "train/neg": 12_500, "train/unsup": 1, "test/pos": 1}
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for folder, number in folders.items():
            for index in range(number):
                text = f"{folder} {index:05}<br />old".encode()
                member = tarfile.TarInfo(f"aclImdb/{folder}/{index:05}_1.txt")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))


def write_zip(path: Path, members: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)


class Server(ThreadingHTTPServer):
    """
    Serves the files of `root`, or the bytes in `replaced` instead. The connection breaks off in the
    middle of a file in `cut`, and stops in the middle of a file in `held`.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.replaced: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.held: set[str] = set()
        self.stopped = threading.Event()
        self.closing = threading.Event()


class Handler(SimpleHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        path = self.server.root / name
        if not path.exists():
            return self.send_error(404)
        content = self.server.replaced.get(name, path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half])
        if name in self.server.held:
            self.server.stopped.set()
            self.server.closing.wait()
        elif name not in self.server.cut:
            self.wfile.write(content[half:])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(official: Path) -> Iterator[Server]:
    with Server(official) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.closing.set()
        server.shutdown()


def start(folder: Path, server: Server | None, *args: str) -> subprocess.Popen:
    url = f"http://127.0.0.1:{server.server_port if server else 1}"
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), "--mirror", url, *args],
        cwd=folder,
        env={**os.environ, "no_proxy": "127.0.0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A process that a shell starts in the background ignores SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def fetch(folder: Path, server: Server | None, *args: str) -> tuple[str, str]:
    """Returns what the script printed, and the line of its error, or an empty one."""
    process = start(folder, server, *args)
    stdout, stderr = process.communicate()
    assert "Traceback" not in stderr
    # Lines of tqdm's progress bar may come before the error.
    error = stderr.strip().splitlines()[-1] if process.returncode else ""
    assert process.returncode in (0, 1) and (not error or error.startswith("error: "))
    return stdout, error


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_everything_free_is_fetched_and_what_is_there_is_kept(
    tmp_path: Path, server: Server
) -> None:
    (tmp_path / "data/sst").mkdir(parents=True)
    (tmp_path / "data/sst/test.txt").write_text("mine")

    stdout, error = fetch(tmp_path, server)
    again = fetch(tmp_path, None)

    assert not error and files(tmp_path / "data") == set(FREE)
    assert (tmp_path / "data/sst/dev.txt").read_text() == "{}\n" * 1_101
    assert (tmp_path / "data/sst/test.txt").read_text() == "mine"
    assert "eng.testb" in stdout and "--glove" in stdout
    assert "data/sst/test.txt: kept" in stdout and "data/sst/train.txt: fetched" in stdout
    assert not again[1] and "fetched\n" not in again[0]


def test_imdb_is_split_and_of_glove_6b_the_most_frequent_words_are_kept(
    tmp_path: Path, server: Server
) -> None:
    stdout, error = fetch(tmp_path, server, "--imdb", "--glove", "6B", "840B", "--data", "other")

    assert not error and "--glove" not in stdout
    reviews = {
        part: [
            json.loads(line)
            for line in (tmp_path / f"other/movie-reviews/imdb.{part}.jsonl").open(encoding="utf-8")
        ]
        for part in ("train", "dev")
    }
    assert {part: len(rows) for part, rows in reviews.items()} == {"train": 20_000, "dev": 5_000}
    every_fifth = [{"label": "neg", "text": f"train/neg {n:05} old"} for n in (0, 5)]
    assert reviews["dev"][:2] == every_fifth
    assert reviews["train"][-1] == {"label": "pos", "text": "train/pos 12499 old"}
    with gzip.open(tmp_path / "other/vectors/glove.6B.100d.120k.txt.gz", "rt") as packed:
        lines = packed.read().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("word0 0.1", "word119999 0.1", 120_000)
    assert (tmp_path / "other/glove.840B.300d.txt").read_text() == "the 0.1\n"


def test_sources_that_are_not_whole_leave_nothing_and_the_others_are_fetched(
    tmp_path: Path, server: Server
) -> None:
    server.cut.add(DEV)
    server.replaced[TRAIN] = b"<html>"
    write_zip(tmp_path / "wrong.zip", {"trees/train.txt": "{}\n" * (8_544 + 1_101)})
    server.replaced[SST] = (tmp_path / "wrong.zip").read_bytes()

    _, error = fetch(tmp_path, server)

    for word in ("dev-v1.1.json", "got only", "fetched 0", "87,599", "9,645", "8,544", "run it ag"):
        assert word in error
    assert files(tmp_path / "data") == {name for name in FREE if name.startswith("snli")}


def test_what_is_no_archive_or_cannot_be_reached_is_one_line(
    tmp_path: Path, server: Server
) -> None:
    server.replaced[SST] = b"<html>"

    errors = [
        fetch(tmp_path, of, *more)[1]
        for of, *more in ((server,), (None,), (server, "--mirror", "nowhere"))
    ]

    for error, words in zip(
        errors, ("trees/train.txt", "fetch http://127.0.0.1:1/", "fetch nowhere/")
    ):
        assert words in error


def test_an_interrupt_leaves_nothing(tmp_path: Path, server: Server) -> None:
    server.held.add(SST)

    process = start(tmp_path, server)
    assert server.stopped.wait(timeout=60)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)

    assert process.returncode == 1 and not files(tmp_path)
    assert stderr.splitlines()[-1].startswith("interrupted") and "Traceback" not in stderr

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

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch_data.py"
SST = "sentiment/trainDevTestTrees_PTB.zip"
SQUAD = "SQuAD-explorer/dataset"
IMDB = "~amaas/data/sentiment/aclImdb_v1.tar.gz"
NUM_LINES = {
    "sst/train.txt": 8_544,
    "sst/dev.txt": 1_101,
    "sst/test.txt": 2_210,
    "snli/snli_1.0_train.jsonl": 550_152,
    "snli/snli_1.0_dev.jsonl": 10_000,
    "snli/snli_1.0_test.jsonl": 10_000,
}


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the official hosts: as many examples, but without content."""
    root = tmp_path_factory.mktemp("official")
    for folder, archive, inside in (
        ("sst", SST, "trees"),
        ("snli", "projects/snli/snli_1.0.zip", "snli_1.0"),
    ):
        names = [Path(name).name for name in NUM_LINES if name.startswith(folder)]
        write_zip(
            root / archive,
            {f"{inside}/{name}": "{}\n" * NUM_LINES[f"{folder}/{name}"] for name in names},
        )
    write_zip(root / "data/glove.840B.300d.zip", {"glove.840B.300d.txt": "the 0.1\n"})
    lines = "".join(f"word{row} 0.1\n" for row in range(120_001))
    write_zip(root / "data/glove.6B.zip", {"glove.6B.50d.txt": "", "glove.6B.100d.txt": lines})
    for name, num_questions in (("train-v1.1.json", 87_599), ("dev-v1.1.json", 10_570)):
        path = root / SQUAD / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"data": [{"paragraphs": [{"qas": [0] * num_questions}]}]}))
    write_reviews(root / IMDB)
    return root


def write_reviews(path: Path) -> None:
    """Writes 12,500 reviews of each label, and others, which are not wanted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        folders = {"train/pos": 12_500, "train/neg": 12_500, "train/unsup": 1, "test/pos": 1}
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

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


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


def start(folder: Path, *args: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *args],
        cwd=folder,
        env={**os.environ, "no_proxy": "127.0.0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A process that a shell starts in the background ignores SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def fetch(folder: Path, *args: str) -> subprocess.CompletedProcess:
    process = start(folder, *args)
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def assert_one_line(run: subprocess.CompletedProcess, *words: str) -> None:
    assert run.returncode == 1
    # Lines of tqdm's progress bar may come before the error.
    line = run.stderr.strip().splitlines()[-1]
    assert line.startswith("error: ")
    assert "Traceback" not in run.stderr
    for word in words:
        assert word in line


def test_everything_free_is_fetched_by_its_official_name(tmp_path: Path, server: Server) -> None:
    run = fetch(tmp_path, "--mirror", server.url)

    assert run.returncode == 0, run.stderr
    assert files(tmp_path / "data") == {
        *NUM_LINES,
        "squad/train-v1.1.json",
        "squad/dev-v1.1.json",
    }
    assert (tmp_path / "data/sst/dev.txt").read_text() == "{}\n" * 1_101
    assert "eng.testb" in run.stdout
    assert "--glove" in run.stdout


def test_every_fifth_review_of_imdb_is_for_validation(tmp_path: Path, server: Server) -> None:
    fetch(tmp_path, "--imdb", "--mirror", server.url)

    reviews = {}
    for part in ("train", "dev"):
        lines = (tmp_path / f"data/movie-reviews/imdb.{part}.jsonl").read_text().splitlines()
        reviews[part] = [json.loads(line) for line in lines]
    assert {part: len(rows) for part, rows in reviews.items()} == {"train": 20_000, "dev": 5_000}
    assert reviews["dev"][:2] == [
        {"label": "neg", "text": f"train/neg {index:05} old"} for index in (0, 5)
    ]
    assert reviews["train"][-1] == {"label": "pos", "text": "train/pos 12499 old"}


def test_of_glove_6b_the_most_frequent_words_are_kept(tmp_path: Path, server: Server) -> None:
    run = fetch(tmp_path, "--mirror", server.url, "--glove", "6B", "840B", "--data", "elsewhere")

    with gzip.open(tmp_path / "elsewhere/vectors/glove.6B.100d.120k.txt.gz", "rt") as packed:
        lines = packed.read().splitlines()
    assert run.returncode == 0, run.stderr
    assert (lines[0], lines[-1], len(lines)) == ("word0 0.1", "word119999 0.1", 120_000)
    assert (tmp_path / "elsewhere/glove.840B.300d.txt").read_text() == "the 0.1\n"
    assert "--glove" not in run.stdout


def test_files_that_are_there_are_kept(tmp_path: Path, server: Server) -> None:
    (tmp_path / "data/sst").mkdir(parents=True)
    (tmp_path / "data/sst/dev.txt").write_text("mine")

    first = fetch(tmp_path, "--mirror", server.url)
    again = fetch(tmp_path, "--mirror", "http://127.0.0.1:1")

    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert (tmp_path / "data/sst/dev.txt").read_text() == "mine"
    assert "data/sst/dev.txt: kept" in first.stdout
    assert "data/sst/train.txt: fetched" in first.stdout
    assert "fetched\n" not in again.stdout


def test_a_source_that_breaks_off_leaves_nothing_and_the_others_are_fetched(
    tmp_path: Path, server: Server
) -> None:
    server.cut |= {SST, f"{SQUAD}/dev-v1.1.json"}

    run = fetch(tmp_path, "--mirror", server.url)

    assert_one_line(run, "trainDevTestTrees_PTB.zip", "dev-v1.1.json", "got only", "run it again")
    assert files(tmp_path / "data") == {
        *(name for name in NUM_LINES if name.startswith("snli")),
        "squad/train-v1.1.json",
    }


def test_an_interrupt_leaves_nothing(tmp_path: Path, server: Server) -> None:
    server.held.add(SST)

    process = start(tmp_path, "--mirror", server.url)
    assert server.stopped.wait(timeout=60)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)

    assert process.returncode == 1
    assert stderr.splitlines()[-1].startswith("interrupted")
    assert "Traceback" not in stderr
    assert not files(tmp_path)


@pytest.mark.parametrize(
    ("name", "left_out", "words"),
    [
        (SST, "sst/train.txt", ["trees/train.txt", "zip"]),
        (f"{SQUAD}/train-v1.1.json", "squad/train-v1.1.json", ["fetched 0", "87,599"]),
    ],
)
def test_a_page_in_place_of_the_file_leaves_nothing(
    tmp_path: Path, server: Server, name: str, left_out: str, words: list[str]
) -> None:
    server.replaced[name] = b"<html>"

    run = fetch(tmp_path, "--mirror", server.url)

    assert_one_line(run, *words)
    fetched = files(tmp_path / "data")
    assert left_out not in fetched and not any("fetching" in name for name in fetched)


def test_a_wrong_number_of_lines_is_refused(tmp_path: Path, server: Server) -> None:
    write_zip(tmp_path / "train-and-dev.zip", {"trees/train.txt": "{}\n" * (8_544 + 1_101)})
    server.replaced[SST] = (tmp_path / "train-and-dev.zip").read_bytes()

    run = fetch(tmp_path, "--mirror", server.url)

    assert_one_line(run, "data/sst/train.txt", "9,645", "8,544")
    assert not (tmp_path / "data/sst/train.txt").exists()


@pytest.mark.parametrize(
    ("mirror", "words"),
    [
        ("SERVER/x", [SST, "404"]),
        ("http://127.0.0.1:1", ["cannot fetch http://127.0.0.1:1/", "refused"]),
        ("nowhere", ["nowhere/", "url"]),
    ],
)
def test_an_address_that_has_no_files_is_one_line(
    mirror: str, words: list[str], tmp_path: Path, server: Server
) -> None:
    run = fetch(tmp_path, "--mirror", mirror.replace("SERVER", server.url))

    assert_one_line(run, *words)
    assert not files(tmp_path)

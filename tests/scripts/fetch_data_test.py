import gzip
import io
import json
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import ContentTooShortError
from urllib.request import urlretrieve

import pytest

from scripts import fetch_data
from scripts.fetch_data import IMDB, SOURCES

FREE = {f"{source.folder}/{name}" for source in SOURCES for name in source.names}

Fetch = Callable[..., tuple[str, str]]


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the official hosts, of which each data file is its own name."""
    root = tmp_path_factory.mktemp("official")
    for source in SOURCES[:2]:
        write_zip(root / source.path[1:], {source.inside + name: name for name in source.names})
    words = "".join(f"word{row} 0.1\n" for row in range(120_001))
    write_zip(root / "data/glove.6B.zip", {"glove.6B.50d.txt": "", "glove.6B.100d.txt": words})
    write_zip(root / "data/glove.840B.300d.zip", {"glove.840B.300d.txt": "the 0.1\n"})
    for source in SOURCES[2:]:
        path = root / source.path[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(*source.names)
    write_reviews(root / IMDB.path[1:])
    return root


def write_reviews(path: Path) -> None:
    """Writes 25 reviews of each label, and others, which are not wanted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folders = {"train/pos": 25, "train/neg": 25, "train/unsup": 1, "test/pos": 1}
    with tarfile.open(path, "w:gz") as archive:
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


@pytest.fixture
def fetch(
    official: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Fetch:
    """Runs the script; returns what it printed and the line of its error, or an empty one."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, mirror: str = f"file://{official}") -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["fetch_data", "--mirror", mirror, *arguments])
        error = ""
        try:
            fetch_data.main()
        except SystemExit as ended:
            error = str(ended.code)
        assert len(error.splitlines()) < 2
        return capsys.readouterr().out, error

    return run


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes | BaseException]:
    """Maps the name of a file to the content that is fetched, or to the error that is raised."""
    files: dict[str, bytes | BaseException] = {}

    def fetched(url: str, path: Path, *arguments: Any) -> None:
        content = files.get(url.rpartition("/")[2])
        if content is None:
            urlretrieve(url, path, *arguments)
            return
        path.write_bytes(content if isinstance(content, bytes) else b"half")
        if isinstance(content, BaseException):
            raise content

    monkeypatch.setattr(fetch_data, "urlretrieve", fetched)
    return files


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_everything_free_is_fetched_and_what_is_there_is_kept(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "data/sst").mkdir(parents=True)
    (tmp_path / "data/sst/test.txt").write_text("mine")

    said, error = fetch()
    again = fetch(mirror="nowhere")

    assert not error and files(tmp_path / "data") == FREE
    assert (tmp_path / "data/sst/dev.txt").read_text() == "dev.txt"
    assert (tmp_path / "data/sst/test.txt").read_text() == "mine"
    assert "eng.testb" in said and "--glove" in said
    assert "data/sst/test.txt: kept" in said and "data/sst/train.txt: fetched" in said
    assert not again[1] and "fetched\n" not in again[0]


def test_imdb_is_split_and_of_glove_6b_the_most_frequent_words_are_kept(
    fetch: Fetch, tmp_path: Path
) -> None:
    said, error = fetch("--imdb", "--glove", "6B", "840B", "--data", "other")

    assert not error and "--glove" not in said
    train, dev = (
        [
            json.loads(line)
            for line in (tmp_path / f"other/movie-reviews/imdb.{part}.jsonl").open(encoding="utf-8")
        ]
        for part in ("train", "dev")
    )
    assert (len(train), len(dev)) == (40, 10)
    assert dev[:2] == [{"label": "neg", "text": f"train/neg {n:05} old"} for n in (0, 5)]
    assert train[-1] == {"label": "pos", "text": "train/pos 00024 old"}
    with gzip.open(tmp_path / "other/vectors/glove.6B.100d.120k.txt.gz", "rt") as packed:
        lines = packed.read().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("word0 0.1", "word119999 0.1", 120_000)
    assert (tmp_path / "other/glove.840B.300d.txt").read_text() == "the 0.1\n"


def test_sources_that_are_not_whole_leave_nothing_and_the_others_are_fetched(
    fetch: Fetch, replaced: dict[str, bytes | BaseException], tmp_path: Path
) -> None:
    replaced["dev-v1.1.json"] = ContentTooShortError("got only 5 bytes", None)  # type: ignore
    replaced["trainDevTestTrees_PTB.zip"] = b"<html>"

    _, error = fetch()

    for words in ("dev-v1.1.json: <urlopen error got only", "trees/train.txt of", "run it again"):
        assert words in error
    assert files(tmp_path / "data") == {name for name in FREE if "snli" in name or "train-" in name}


@pytest.mark.parametrize("mirror", ["http://127.0.0.1:1", "nowhere"])
def test_what_cannot_be_reached_is_one_line(fetch: Fetch, mirror: str) -> None:
    assert f"cannot fetch {mirror}/" in fetch(mirror=mirror)[1]


def test_an_interrupt_leaves_nothing(
    fetch: Fetch, replaced: dict[str, bytes | BaseException], tmp_path: Path
) -> None:
    replaced["trainDevTestTrees_PTB.zip"] = KeyboardInterrupt()

    assert fetch()[1].startswith("interrupted") and not files(tmp_path)

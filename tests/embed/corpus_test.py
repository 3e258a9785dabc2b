import gzip
import json
import re
from pathlib import Path

import fsspec
import pyarrow
import pyarrow.parquet
import pytest

from elmo_tasks.common import text_files
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.embed.corpus import Corpus

TEXTS = ["A boat .", "", "Its naïve crew"]


def write(folder: Path, name: str) -> Path:
    """Writes `TEXTS` in the format that a name says."""
    path = folder / name
    if name == "a.parquet":
        tokens = [text.split() for text in TEXTS]
        pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2, 3], "sentence": tokens}), path)
        return path
    if name == "a.jsonl":
        content = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    elif name == "a.csv.gz":
        content = "id,text\n" + "".join(f"1,{text}\n" for text in TEXTS)
    else:
        content = "\n".join(TEXTS) + "\n"
    pack = gzip.compress if name.endswith(".gz") else bytes
    path.write_bytes(pack(content.encode()))
    return path


# tests/common/records_test.py has the other ways to compress a file.
@pytest.mark.parametrize("name", ["a.txt", "a.csv.gz", "a.jsonl", "a.parquet"])
def test_every_format_gives_the_same_lines(name: str, tmp_path: Path) -> None:
    corpus = Corpus([write(tmp_path, name)])

    assert list(corpus) == TEXTS
    assert corpus.share_read == 1 and list(corpus) == TEXTS


@pytest.mark.parametrize("name", ["a.txt.gz", "a.parquet"])
def test_addresses_of_fsspec_are_read(name: str, tmp_path: Path) -> None:
    content = write(tmp_path, name).read_bytes()
    system = fsspec.filesystem("memory")
    for copy in ("x", "y"):
        system.pipe_file(f"/corpus/{copy}-{name}", content)

    corpus = Corpus([f"memory://corpus/*-{name}", f"memory://corpus/x-{name}"])

    assert list(corpus) == 3 * TEXTS
    assert corpus.files == [f"memory:///corpus/{copy}-{name}" for copy in "xyx"]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl"])
def test_the_name_in_an_address_says_what_a_fetched_file_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = write(tmp_path, name).rename(tmp_path / "0a1b")
    address = f"https://host/{name}?version=1.2"
    monkeypatch.setattr(text_files, "local_path", {address: str(copy)}.get)

    corpus = Corpus([address])

    assert list(corpus) == TEXTS
    assert corpus.files == [address]


def test_an_address_that_cannot_be_opened_is_refused() -> None:
    with pytest.raises(FileNotFoundError, match="memory://nowhere/text.txt not found"):
        Corpus(["memory://nowhere/text.txt"])
    with pytest.raises(ValueError, match="nothing://text"):
        Corpus(["nothing://text"])


def test_the_share_that_was_read_grows_with_the_bytes(tmp_path: Path) -> None:
    small, large = tmp_path / "a.txt", tmp_path / "b.txt"
    small.write_text("word\n" * 1000)
    large.write_text("word\n" * 3000)
    corpus = Corpus([small, large])

    shares = [corpus.share_read for _ in corpus]

    assert shares == sorted(shares) and 0 < shares[0] <= 0.25 <= shares[1000] <= 1


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("a.txt", "naïve".encode("latin-1"), "not UTF-8"),
        ("a.jsonl", b"{", "Expecting property name"),
        ("a.jsonl", b"[1]", "JSON object"),
        ("a.jsonl", b'{"words": "a"}', "no field sentence or text"),
        ("a.jsonl", b'{"text": 3}', "the text must be"),
        ("a.jsonl", b'{"text": ["a b"]}', "token 0 of the text has white space: 'a b'"),
    ],
)
def test_a_line_that_cannot_be_used_is_said_with_its_number(
    name: str, line: bytes, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(b'{"text": "a"}\n' + line + b"\n")
    lines = iter(Corpus([path]))

    next(lines)
    with pytest.raises(ValueError, match=f"{path}:2: .*{re.escape(fault)}"):
        next(lines)


@pytest.mark.parametrize(
    ("second", "fault"), [(None, "2: .*not None"), (b"na\xef", "2: .*can't decode byte 0xef")]
)
def test_an_empty_row_of_parquet_or_one_that_is_not_utf8_is_refused(
    second: bytes | None, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    texts = pyarrow.array([b"a", second]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), path)

    with pytest.raises(ValueError, match=fault):
        list(Corpus([path]))
    with pytest.raises(ConfigurationError, match="there is no column words; choose one of text"):
        list(Corpus([path], column="words"))


def test_sentences_with_tabs_are_counted_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Hi\n7\tThe owl sleeps\n8\tIt wakes\n")
    corpus = Corpus([path])

    assert list(corpus) == list(corpus) == ["Hi", "7\tThe owl sleeps", "8\tIt wakes"]

    assert caplog.text.count(f"{path}: 2 sentences have tabs, the first is sentence 2: an id") == 1


def test_a_word_on_each_line_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.txt"
    path.write_text("owl\n\n" * 10)
    list(Corpus([path], split=str.split))
    assert not caplog.records

    corpus = Corpus([path])
    assert list(corpus) == list(corpus) == ["owl", ""] * 10

    assert caplog.text.count(f"{path}: each of the 10 sentences has one word: write a whole") == 1


def test_boundaries_written_by_hand_are_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("<S> a boat </S>\na bank\n")
    corpus = Corpus([path])

    assert list(corpus) == list(corpus) == ["<S> a boat </S>", "a bank"]
    assert caplog.text.count(f"{path}: 2 words are <S> or </S>, the first in sentence 1") == 1

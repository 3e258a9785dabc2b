import gzip
import json
from pathlib import Path

import fsspec
import pyarrow
import pyarrow.parquet
import pytest

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
    path = write(tmp_path, name)
    corpus = Corpus([path])

    lines = list(corpus)

    assert [line.values["text"] for line in lines] == TEXTS
    first = 2 if ".csv" in name else 1
    assert [(line.file, line.line) for line in lines] == [
        (str(path), number) for number in range(first, first + 3)
    ]
    assert corpus.share_read == 1 and list(corpus.texts()) == TEXTS


@pytest.mark.parametrize("name", ["a.txt.gz", "a.parquet"])
def test_addresses_of_fsspec_are_read(name: str, tmp_path: Path) -> None:
    content = write(tmp_path, name).read_bytes()
    system = fsspec.filesystem("memory")
    for copy in ("x", "y"):
        system.pipe_file(f"/corpus/{copy}-{name}", content)

    corpus = Corpus([f"memory://corpus/*-{name}", f"memory://corpus/x-{name}"])

    assert [line.values["text"] for line in corpus] == 3 * TEXTS
    assert corpus.files == [f"memory:///corpus/{copy}-{name}" for copy in "xyx"]


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


def test_lines_that_cannot_be_read_are_said_with_their_number(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("good\nnaïve\nlast\n".encode("latin-1"))

    lines = list(Corpus([path]))

    assert [(line.line, line.values.get("text")) for line in lines] == [
        (1, "good"),
        (2, None),
        (3, "last"),
    ]
    assert lines[0].fault is lines[2].fault is None
    assert str(lines[1].fault).startswith("not UTF-8")
    with pytest.raises(ValueError, match=r"a\.txt:2: not UTF-8"):
        list(Corpus([path]).texts())


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "Expecting property name"),
        ("[1]", "expected a JSON object"),
        ('{"words": "a"}', "no field sentence or text"),
        ('{"text": 3}', "expected a text or a list of tokens, not 3"),
        ('{"text": ["a b"]}', "'a b' is no token, because it is empty or has white space"),
    ],
)
def test_a_row_of_json_that_cannot_be_used_is_a_fault(
    line: str, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "a"}}\n{line}\n')

    good, bad = Corpus([path])

    assert good.fault is None and bad.line == 2 and fault in str(bad.fault)


def test_an_empty_row_of_parquet_or_one_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = pyarrow.array([b"a", None, b"na\xef"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), path)

    good, empty, bad = Corpus([path])

    assert (good.values, good.fault) == ({"text": "a"}, None)
    assert "not None" in str(empty.fault) and "can't decode byte 0xef" in str(bad.fault)
    with pytest.raises(ConfigurationError, match="there is no column words; choose one of text"):
        list(Corpus([path], column="words"))

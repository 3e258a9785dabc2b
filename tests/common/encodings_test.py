import bz2
import gzip
import io
import zipfile
from pathlib import Path

import pytest

from elmo_tasks.common.text_files import read_lines


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


TEXT = "Größe 😀\n\nsüß, und mehr davon\n"


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encoding_and_line_ends_are_known_by_the_first_bytes(
    encoding: str, end: str, tmp_path: Path
) -> None:
    for name, pack in (("a", bytes), ("b", gzip.compress)):
        path = written(tmp_path / name, pack(TEXT.replace("\n", end).encode(encoding)))

        assert list(read_lines(path)) == TEXT.splitlines()


def test_the_lines_of_an_old_macintosh_may_be_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    lines = [f"{number} " * number for number in range(2000)]

    assert list(read_lines(written(tmp_path / "a", "\r".join(lines).encode()))) == lines


def a_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "a")
    return file.getvalue()


# The content of a file, and words of the message.
NO_TEXT = [
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "is a pointer of Git LFS"),
    (b"\xba\x16O/\x0c\0\0\0d\0", "is a binary file of word vectors"),
    (
        b"2 2\nthe \xcd\xcc\x8c?\0\0\x80?\nof ",
        "is a binary file of word vectors",
    ),
    (b"\n<!DOCTYPE HTML>\n<html>", "is a page of HTML, not text: save its text; if a site"),
    (b"ARROW1\0\0\xff", "is a file of Arrow, not text: write its table as Parquet"),
    (b"\xff\xff\xff\xff\x10\n\0\0\x10\0\0\0\0\0", "is a file of Arrow, not text: write its"),
    (b"PAR1\x15\x04\xff", "is a file of Parquet, not text: give it the suffix .parquet"),
    (a_zip(), "is a zip file or a workbook, not text: unpack it, or save its table as CSV"),
    (bz2.compress(b"a"), "is compressed by bzip2, not text: unpack it"),
    (gzip.compress(bytes(257) + b"ustar\0", mtime=0), r"is an archive of files \(tar\), not text"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "is a file of an old Office program"),
    (b"a\0b\xff\n", ":1: not UTF-8: .*NUL bytes, so it is no text, or UTF-16 .* UTF-16LE"),
    (b"a\x01b\xff\n", ":1: not UTF-8: .*control characters, so it is not text$"),
    (b"a\xe9\n", ":1: .*WINDOWS-1252"),
]


@pytest.mark.parametrize(("content", "words"), NO_TEXT)
def test_what_is_no_text_is_refused_without_advice_that_would_destroy_it(
    content: bytes, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"/a.csv:? ?{words}") as caught:
        list(read_lines(written(tmp_path / "a.csv", content)))
    assert ("1252" in str(caught.value)) == ("1252" in words)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_a_line_that_unfolds_to_gigabytes_is_refused_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, end: str
) -> None:
    monkeypatch.setattr("elmo_tasks.common.encodings._LONGEST_LINE", 1000)
    path = tmp_path / "in.txt.gz"
    path.write_bytes(gzip.compress(f"one{end}two{end}{'a' * 10**6}".encode(encoding)))

    with pytest.raises(
        ValueError, match="in.txt.gz:3: the line has over 1,000 bytes after decompression"
    ):
        list(read_lines(path))


def test_lines_to_returns_take_time_by_their_length(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(b"caf\xc3\xa9\r" + b"a" * 10**7 + b"\r")

    assert list(map(len, read_lines(path))) == [4, 10**7]

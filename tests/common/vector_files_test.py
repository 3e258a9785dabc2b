import bz2
import gzip
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.vector_files import read_vectors

PLAIN = "anna 1 2.5 -3\nrome 4 5 6e-1\n"
VECTORS = {"anna": [1, 2.5, -3], "rome": [4, 5, 0.6]}

# Files with the vectors of `VECTORS` in other dresses.
DRESSES = {
    "tabs": PLAIN.replace(" ", "\t"),
    "a tab after the word": PLAIN.replace("anna ", "anna\t").replace("rome ", "rome\t"),
    "two blanks": PLAIN.replace(" ", "  "),
    "blanks at the end": PLAIN.replace("\n", " \n"),
    "no last line end": PLAIN.rstrip("\n"),
    "Windows": PLAIN.replace("\n", "\r\n"),
    "blank lines": f"\n{PLAIN}\n \n",
    "byte order mark": "\ufeff" + PLAIN,
    "header of word2vec": f"2 3\n{PLAIN}",
    "header and byte order mark": f"\ufeff2\t3\r\n{PLAIN}",
    "a word twice": f"{PLAIN}anna 7 8 9\n",
    "words with blanks": f"{PLAIN}. . . 7 8 9\nat me@x.org 1 2 3\n",
    "an empty word": f"{PLAIN} 7 8 9\n",
}

# The content of a file, and the message behind its name.
REFUSED: list[tuple[str | bytes, str]] = [
    (
        f"{PLAIN}oslo 7 8\n",
        ":3: there are 2 numbers after the word, not 3; the line or the file is cut, or the "
        "separator is neither a blank nor a tab",
    ),
    (f"{PLAIN}oslo 7", ":3: .* 1 numbers"),
    (f"{PLAIN}oslo", ":3: .* 0 numbers"),
    (f"{PLAIN}oslo,7,8,9\n", ":3: .* 0 numbers"),
    ("anna,1,2\n", ":1: .* 0 numbers"),
    (f"{PLAIN}oslo 7 8 x\n", ":3: .*'x'"),
    (f"{PLAIN}oslo 7 8 nan\n", ":3: 'nan' is not a finite number"),
    (f"{PLAIN}oslo -inf 8 9\n", ":3: '-inf' "),
    (f"{PLAIN}oslo 7 8 1e39\n", ":3: '1e39' "),
    (f"{PLAIN}oslo x 7 8 9 1,0\n", ":3: .*'1,0'"),
    ("", " is empty: expected a word and its numbers"),
    ("\n\n", " is empty"),
    (b"anna 1 2\ncaf\xe9 1 2\n", ":2: not UTF-8"),
    (gzip.compress(PLAIN.encode(), mtime=0)[:-9], ": .*damaged"),
]


def written(folder: Path, content: str | bytes) -> str:
    content = content.encode() if isinstance(content, str) else content
    (folder / "vectors.txt").write_bytes(content)
    return str(folder / "vectors.txt")


def assert_equal(found: dict[str, numpy.ndarray]) -> None:
    assert list(found) == list(VECTORS)
    for word, vector in found.items():
        numpy.testing.assert_array_equal(vector, numpy.array(VECTORS[word], numpy.float32))


@pytest.mark.parametrize("dim", [None, 3])
@pytest.mark.parametrize("name", DRESSES)
def test_vectors_are_the_same_in_any_dress(tmp_path: Path, name: str, dim: int | None) -> None:
    assert_equal(read_vectors(written(tmp_path, DRESSES[name]), dim))


@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_a_file_that_is_none_of_vectors_is_refused_with_its_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(ValueError, match=f"vectors.txt{message}"):
        read_vectors(written(tmp_path, content))


def test_another_width_is_refused_with_the_width_to_set(tmp_path: Path) -> None:
    for content, width in ((PLAIN, 3), (f"2 5\n{PLAIN}", 5)):
        with pytest.raises(ValueError, match=f":1: .* {width} numbers, not 4"):
            read_vectors(written(tmp_path, content), 4)


def test_what_is_left_out_is_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path, f"{PLAIN}anna 7 8 9\n. . 7 8 9\nrome 1 1 1\n")

    assert_equal(read_vectors(path))

    assert "left out 2 lines of a word that came before; the first counts" in caplog.text
    assert "left out 1 lines of a word that is empty or has a blank" in caplog.text


def test_a_file_with_fewer_words_than_its_header_names_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert_equal(read_vectors(written(tmp_path, f"2 3\n{PLAIN}")))
    assert not caplog.records

    assert_equal(read_vectors(written(tmp_path, f"7 3\n{PLAIN}")))
    assert "the header names 7 words, but there are 2: is the file whole?" in caplog.text


def test_only_wanted_words_and_so_many_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, PLAIN)

    assert list(read_vectors(path, only_words={"rome", "oslo"})) == ["rome"]
    assert list(read_vectors(path, max_words=1)) == ["anna"]


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("vectors.txt", PLAIN)
        file.writestr("__MACOSX/._vectors.txt", "x")


def tarred(path: Path) -> None:
    (path.parent / "plain").write_text(PLAIN)
    with tarfile.open(path, "w:gz") as file:
        file.add(path.parent / "plain", "vectors.txt")


# Writes a compressed file of `PLAIN`.
COMPRESSED: list[Callable[[Path], object]] = [
    lambda path: path.write_bytes(gzip.compress(PLAIN.encode())),
    lambda path: path.write_bytes(lzma.compress(PLAIN.encode())),
    lambda path: path.write_bytes(bz2.compress(PLAIN.encode())),
    zipped,
    tarred,
]


@pytest.mark.parametrize("compress", COMPRESSED)
def test_a_compressed_file_or_the_one_file_of_an_archive_is_read(
    tmp_path: Path, compress: Callable[[Path], object]
) -> None:
    compress(tmp_path / "vectors")

    assert_equal(read_vectors(str(tmp_path / "vectors")))


def test_of_several_files_in_an_archive_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("3d.txt", PLAIN)
        file.writestr("2d.txt", "anna 1 2\n")

    assert_equal(read_vectors(f"({path})#3d.txt"))
    with pytest.raises(ValueError, match=r"two.zip has the files 3d.txt, 2d.txt: name one, such"):
        read_vectors(str(path))


# Words without blanks, some of them numbers or spaces of Unicode.
WORDS = st.text(
    st.characters(exclude_characters=" \t\r\n", exclude_categories=["Cs"]), min_size=1, max_size=5
).filter(lambda word: not word.startswith("\ufeff")) | st.sampled_from(["1", "2.5", "\x85", "\xa0"])


@given(
    st.lists(WORDS, min_size=1, max_size=5, unique=True),
    st.integers(2, 4),
    st.booleans(),
    st.sampled_from(" \t"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_random_vectors_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory,
    words: list[str],
    dim: int,
    header: bool,
    separator: str,
    end: str,
) -> None:
    vectors = {word: [row + 0.25 * k for k in range(dim)] for row, word in enumerate(words)}
    lines = [separator.join([word, *map(str, vectors[word])]) for word in words]
    first = [f"{len(words)}{separator}{dim}"] if header else []
    folder = tmp_path_factory.mktemp("vectors")

    found = read_vectors(written(folder, "".join(line + end for line in [*first, *lines])))

    assert {word: vector.tolist() for word, vector in found.items()} == vectors

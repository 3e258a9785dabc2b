import errno
import gzip
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from elmo_tasks.common import text_files
from elmo_tasks.common.text_files import (
    at_line,
    corpus_files,
    numbered_lines,
    read_lines,
    refuse_damaged,
)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_packed_text_is_known_without_a_suffix(pack: Any, tmp_path: Path) -> None:
    for lines in ([], ["Zoë sings .", "", "Yes ."]):
        path = written(tmp_path / "a-name-in-a-cache", pack("\r\n".join(lines).encode()))

        assert list(read_lines(path)) == lines


def test_lines_have_numbers_from_1_and_neither_ends_nor_byte_order_marks(tmp_path: Path) -> None:
    path = written(tmp_path / "text", "\ufeffa b\r\n\n c\u2028d \n\ufeffe")

    lines = list(numbered_lines(path))

    assert lines == [(1, "a b"), (2, ""), (3, " c\u2028d "), (4, "e")]
    assert list(read_lines(path)) == [text for _, text in lines]


def test_a_pattern_is_its_files_sorted_and_the_path_of_a_file_is_no_pattern(tmp_path: Path) -> None:
    paths = [str(written(tmp_path / name, "")) for name in ("b1.txt", "a[1].txt", "a1.txt.gz")]
    (tmp_path / "d.txt").mkdir()

    assert corpus_files(tmp_path / "*.txt*") == sorted(paths)
    for path in (*paths, str(written(tmp_path / "b?.txt", ""))):
        assert corpus_files(path) == [path]


def test_a_path_that_names_no_file_is_refused(tmp_path: Path) -> None:
    for name in ("none.txt", "none.*"):
        with pytest.raises(FileNotFoundError, match="none"):
            corpus_files(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="none.txt"):
        list(numbered_lines(tmp_path / "none.txt"))


def test_an_address_is_fetched_and_errors_name_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = written(tmp_path / "0a1b", b"a\n\xff\n")
    address = "https://host/text?x=1"
    monkeypatch.setattr(text_files, "local_path", {address: str(fetched)}.get)

    # The question mark makes no pattern of it.
    assert corpus_files(address) == [address]
    with pytest.raises(ValueError, match=r"https://host/text\?x=1:2: not UTF-8"):
        list(numbered_lines(address))


@pytest.mark.parametrize("name", ["text.gz", "text.xz"])
@pytest.mark.parametrize("fault", ["truncated", "changed"])
def test_a_damaged_packed_file_is_refused(name: str, fault: str, tmp_path: Path) -> None:
    text = "".join(f"{n} {n * n} {n**3}\n" for n in range(20_000))
    pack: Any = {".gz": gzip.compress, ".xz": lzma.compress}
    packed = pack[Path(name).suffix](text.encode())
    half = len(packed) // 2
    damaged = packed[:half] if fault == "truncated" else packed[:half] + b"no" + packed[half + 2 :]
    path = written(tmp_path / name, damaged)

    with pytest.raises(ValueError, match=rf"{name}: is damaged after line \d+: "):
        list(read_lines(path))


def test_an_error_of_the_disk_is_not_called_damage() -> None:
    broken = OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError) as caught:
        refuse_damaged("text", 3, broken)

    assert caught.value is broken


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path, kind in (
        (tmp_path / "pipe", "pipe: write what"),
        (tmp_path, "folder"),
        ("/dev/zero", "device"),
    ):
        with pytest.raises(ValueError, match=f"{path} is not a file, but a {kind}"):
            next(read_lines(path))


def test_an_error_at_a_line_names_file_and_line_and_keeps_its_cause() -> None:
    cause = ValueError("no tree")

    with (
        pytest.raises(ValueError, match="^trees.txt:3: no tree$") as error,
        at_line("trees.txt", 3),
    ):
        raise cause

    assert error.value.__cause__ is cause


# Addresses that fsspec streams.


@pytest.fixture
def bucket() -> Iterator[str]:
    """The address of a folder with two texts, one of them packed."""
    system = fsspec.filesystem("memory")
    system.pipe({"/bucket/a.txt": b"a b\nc\n", "/bucket/b.txt.gz": gzip.compress(b"d\n")})
    yield "memory://bucket"
    system.rm("/bucket", recursive=True)


def test_an_address_that_is_a_pattern_is_its_files_sorted(bucket: str) -> None:
    files = corpus_files(f"{bucket}/*.txt*")

    assert [name.rpartition("/")[2] for name in files] == ["a.txt", "b.txt.gz"]
    assert corpus_files(f"{bucket}/a.txt") == files[:1]
    assert [line for name in files for line in read_lines(name)] == ["a b", "c", "d"]


def test_an_address_is_streamed_without_a_copy(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "local_path", lambda path: pytest.fail(f"fetched {path}"))

    lines = list(read_lines(f"{bucket}/a.txt"))

    assert lines == ["a b", "c"]


@pytest.mark.parametrize("address", ["https://host/a", "hf://a/b", "nothing://a", "text.gz"])
def test_what_fsspec_does_not_stream_is_left_to_others(address: str) -> None:
    assert text_files._file_system(address) == (None, address)

"""Tests that hostile headers never reach `tarfile`, and that all others pass as they are."""

import gzip
import io
import tarfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tar_stream import TarStream
from elmo_tasks.common.unpacking import unpacked
from tests.helpers.archives import member


def block(kind: bytes, content: bytes = b"", size: int | None = None, **fields: Any) -> bytes:
    """Returns a header of some type with its content, padded to whole blocks."""
    count = len(content) if size is None else size
    header = member("x", count, type=kind, **fields)
    return header.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def packed(*blocks: bytes) -> gzip.GzipFile:
    content = b"".join([*blocks, bytes(1024)])
    return gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(content, 1)))


def names(file: Any) -> list[str]:
    with tarfile.open(fileobj=file, mode="r|") as tar:
        return [each.name for each in tar]


FILE = block(tarfile.REGTYPE)
LONG, PAX, GLOBAL = tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE
RECORD = b"12 path=abc\n"
SPARSE = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"

# The blocks of an archive, and words of the refusal.
HOSTILE: dict[str, tuple[Iterable[bytes], str]] = {
    "a long name": ([block(LONG, b"a" * 10**7), FILE], "the last of 10,000,000 bytes"),
    "a name of 1 GiB that is not there": ([block(LONG, size=2**30)], "of 1,073,741,824 bytes"),
    "many long names in a row": ([block(LONG, b"a")] * 1199, "it has 5 headers in a row"),
    "many records in a row": ([block(PAX, RECORD)] * 1199, "it has 5 headers in a row"),
    # CVE-2024-6232.
    "digits": ([block(PAX, b"1" * 8000), FILE], "record b'1111111111111111111111111"),
    "digits in a value": ([block(PAX, b"0999 a=%s\n" % (b"1" * 991))], "of too many digits"),
    "a record of length 0": ([block(PAX, b"0 a=b\n")], "record b'0 a=b\\n', which is not allowed"),
    "another size": ([block(PAX, b"11 size=99\n"), FILE], "record b'11 size=99\\n'"),
    "a sparse file of PAX": ([block(PAX, SPARSE), FILE], "record b'22 GNU.sparse.major"),
    "a sparse file": ([block(tarfile.GNUTYPE_SPARSE)], "neither a file nor a folder"),
    "records for all, late": ([FILE, block(GLOBAL, RECORD)], "after the first member"),
    "much in all": ([block(LONG, b"a" * 8192), FILE] * 600, "and in the whole archive 4,194,304"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_header_is_refused_at_once(name: str) -> None:
    blocks, words = HOSTILE[name]
    file = TarStream(packed(*blocks), 10**9)
    start = time.process_time()

    with pytest.raises(tarfile.TarError) as caught:
        names(file)

    assert words in str(caught.value)
    assert time.process_time() - start < 1


def test_a_negative_size_is_refused() -> None:
    header = bytearray(FILE)
    header[124:136] = 12 * b"\xff"
    header[148:156] = b"%06o\0 " % (sum(header) - sum(header[148:156]) + 8 * 32)

    with pytest.raises(tarfile.TarError):
        names(TarStream(packed(bytes(header)), 10**9))


@given(
    members=st.lists(
        st.tuples(st.text("aé/漢 .", min_size=1, max_size=250), st.integers(0, 2000)), max_size=8
    ),
    format=st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    mtime=st.sampled_from([0, 1_700_000_000, 1.5]),
    sizes=st.sampled_from([512, 1024, 10240, 2**20]),
)
@settings(max_examples=100, deadline=None)
def test_what_tarfile_writes_is_read_unchanged(
    members: list[tuple[str, int]], format: int, mtime: float, sizes: int
) -> None:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=format) as tar:
        for name, size in members:
            tar.addfile(member(name, size, mtime=mtime), io.BytesIO(b"\1" * size))
    content = written.getvalue()
    file = TarStream(gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(content, 1))), 10**9)

    assert b"".join(iter(lambda: file.read(sizes), b"")) == content


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_an_archive_with_wrong_bytes_is_unpacked_or_refused_in_a_line(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("wrong") / "a.tar.gz"
    kinds = st.sampled_from([*b"0125LKxgSX7", 0])
    blocks = [block(LONG, b"n" * 600), block(PAX, RECORD), FILE, block(tarfile.DIRTYPE), FILE]
    order = data.draw(st.permutations(range(5)))
    content = bytearray(b"".join(blocks[index] for index in order) + bytes(1024))
    for _ in range(data.draw(st.integers(1, 6))):
        header = 512 * data.draw(st.integers(0, 8))
        if data.draw(st.booleans()):
            content[header + 156] = data.draw(kinds)
        else:
            content[header + data.draw(st.integers(0, 511))] = data.draw(st.integers(0, 255))
        checksum = sum(content[header : header + 512]) - sum(content[header + 148 : header + 156])
        content[header + 148 : header + 156] = b"%06o\0 " % (checksum + 8 * 32)
    path.write_bytes(gzip.compress(bytes(content), 1))

    try:
        with unpacked(path) as folder:
            assert Path(folder).is_dir()
    except ConfigurationError as error:
        assert str(error).startswith(f"{path} is not unpacked: ") and "\n" not in str(error)

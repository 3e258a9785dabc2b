import gzip
from collections.abc import Iterator

import fsspec
import pytest

from elmo_tasks.common import text_files
from elmo_tasks.common.addresses import files_at, open_at
from elmo_tasks.common.text_files import corpus_files, read_lines


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
    assert files_at(address) is None and open_at(address) is None

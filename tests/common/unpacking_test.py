import gzip
import io
import os
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from elmo_tasks.common import unpacking
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.unpacking import temporary_folder, unpacked
from tests.helpers.archives import member

FILES = {"config.json": b"{}", "weights.th": os.urandom(5000), "vocabulary/tokens.txt": b"a\nb\n"}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a new folder, which temporary folders are made in."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def tar(path: Path, *members: tarfile.TarInfo) -> Path:
    """Packs `FILES` and further members of zeros."""
    with tarfile.open(path, "w:gz") as file:
        for name, content in FILES.items():
            file.addfile(member(name, len(content)), io.BytesIO(content))
        for further in members:
            file.addfile(further, io.BytesIO(bytes(further.size)))
    return path


def zipped(path: Path, **more: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {**FILES, **more}.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize("pack", [tar, zipped])
def test_files_are_unpacked_and_removed_after_the_block(
    pack: Any, tmp_path: Path, temporary: Path
) -> None:
    archive = pack(tmp_path / "an_archive")

    with unpacked(archive) as folder:
        found = {path for path in Path(folder).rglob("*") if path.is_file()}
        assert {str(path.relative_to(folder)): path.read_bytes() for path in found} == FILES
        # So that a message about one of the files says where it was.
        assert Path(folder).name.startswith("an_archive-")
    assert not os.listdir(temporary)


LINK: dict[str, Any] = {"type": tarfile.SYMTYPE, "linkname": "/etc"}
REFUSED: list[tuple[Any, str]] = [
    ([member("../../x", 1)], "'../../x' would be extracted"),
    ([member("vocabulary/../../x", 1)], "would be extracted"),
    ([member("../temporary_2/x", 1)], "would be extracted"),
    ([member("a", **LINK), member("a/x", 1)], "member 'a' is neither a file nor a folder"),
    ([member("a", type=tarfile.LNKTYPE, linkname="config.json")], "is neither a file nor"),
    ([member("a", type=tarfile.FIFOTYPE)], "is neither a file nor"),
    ([member("a", type=tarfile.CHRTYPE)], "is neither a file nor"),
    ([member("a", type=tarfile.BLKTYPE)], "is neither a file nor"),
    ([member("zeros", 10**7)], "it unpacks to more than"),
    ([member(f"zeros_{index}", 10**6) for index in range(9)], "it unpacks to more than"),
    ([member(f"empty_{index}") for index in range(100)], "it has more than 90 members"),
    ([member("a", pax_headers={"comment": "x" * 10**5})], "it has 1 headers in a row, the last"),
    ([member("/".join("a" * 129))], "a/a/a... has 257 bytes; at most 255 are allowed"),
    ([member("config.json/x", 1)], "Not a directory: "),
    ([member("vocabulary", 1)], "Is a directory: "),
    ([member("a", pax_headers={"path": "../../x"})], "'../../x' would be extracted"),
    ([member("a", pax_headers={"mtime": "1e30"})], "timestamp"),
]


@pytest.mark.parametrize(("members", "words"), REFUSED)
def test_a_member_that_does_not_belong_into_the_folder_is_refused(
    members: Any, words: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MORE_BYTES", 10**6)
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 90)
    archive = tar(tmp_path / "a.tar.gz", *members)

    with pytest.raises(ConfigurationError) as caught, unpacked(archive):
        pass

    assert str(caught.value).startswith(str(archive)) and words in str(caught.value)
    assert not os.listdir(temporary)
    assert {path.name for path in tmp_path.iterdir()} == {"a.tar.gz", "temporary"}


def test_neither_owners_and_permissions_nor_absolute_paths_are_taken(tmp_path: Path) -> None:
    special = member("program", mode=0o6777, uid=12345, gid=12345)

    with unpacked(tar(tmp_path / "a.tar.gz", special, member("/x", 1))) as folder:
        status = os.stat(Path(folder) / "program")
        assert (Path(folder) / "x").exists()

    assert status.st_mode & 0o6022 == 0 and status.st_uid == os.getuid()


def test_a_zip_file_stays_in_its_folder_and_within_its_bounds(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with unpacked(zipped(tmp_path / "a.zip", **{"../../x": "", "/y": ""})) as folder:
        assert (Path(folder) / "x").exists() and (Path(folder) / "y").exists()
    assert not (tmp_path / "x").exists()

    monkeypatch.setattr(unpacking, "MORE_BYTES", 10**5)
    with (
        pytest.raises(ConfigurationError, match="members of 20,005,006 bytes"),
        unpacked(zipped(tmp_path / "b.zip", zeros=bytes(2 * 10**7))),
    ):
        pass


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_file_of_another_compression_is_refused_before_it_is_inflated(
    method: int, tmp_path: Path, temporary: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as file:
        file.writestr("weights.th", bytes(10**7))

    with (
        pytest.raises(
            ConfigurationError, match="'weights.th' is compressed by the method 1[24], not"
        ),
        patch.object(zipfile.ZipFile, "open", side_effect=AssertionError),
        unpacked(tmp_path / "a.zip"),
    ):
        pass
    assert not os.listdir(temporary)


def test_a_zip_file_that_has_more_than_it_says_is_inflated_to_what_it_says(tmp_path: Path) -> None:
    content = bytearray(zipped(tmp_path / "a.zip", zeros=bytes(10**8)).read_bytes())
    # The size of the last member in the list of members.
    at = content.rindex(b"PK\x01\x02") + 24
    assert int.from_bytes(content[at : at + 4], "little") == 10**8
    content[at : at + 4] = (10).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(content)

    tracemalloc.start()
    with pytest.raises(ConfigurationError, match="Bad CRC-32"), unpacked(tmp_path / "a.zip"):
        pass
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert most < 10**7


def test_a_zip_file_with_deep_folders_is_refused(tmp_path: Path, temporary: Path) -> None:
    archive = zipped(tmp_path / "a.zip", **{"a/" * 1199 + "x": b""})

    with pytest.raises(ConfigurationError, match="has 2,399 bytes"), unpacked(archive):
        pass
    assert not os.listdir(temporary)


def test_the_folder_is_removed_if_ctrl_c_comes_during_its_removal(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink, calls = os.unlink, []

    def interrupted(*args: Any, **options: Any) -> None:
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        unlink(*args, **options)

    monkeypatch.setattr(os, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder() as folder:
        for index in range(9):
            (Path(folder) / str(index)).touch()

    assert len(calls) > 9 and not os.listdir(temporary)


@pytest.mark.parametrize("pack", [tar, zipped])
def test_a_damaged_archive_is_refused(pack: Any, tmp_path: Path, temporary: Path) -> None:
    whole = pack(tmp_path / "a").read_bytes()
    wrong = bytearray(whole)
    # The checksum of a gzip file is at its end. A bit is changed in the random bytes of a zip file.
    wrong[-6 if pack is tar else 2500] ^= 1
    other = gzip.compress(b"no tar file" * 100)

    for content in (whole[: len(whole) // 2], bytes(wrong), b"", b"\x1f\x8b", other):
        (tmp_path / "b").write_bytes(content)
        with (
            pytest.raises(ConfigurationError, match="b is not unpacked"),
            unpacked(tmp_path / "b"),
        ):
            pass
    assert not os.listdir(temporary)

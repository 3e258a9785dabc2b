import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.common import unpacking
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.unpacking import unpacked
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
    ([member("a", pax_headers={"comment": "x" * 10**7})], "it unpacks to more than"),
    ([member("a", pax_headers={"path": "../../x"})], "'../../x' would be extracted"),
    ([member("a", pax_headers={"mtime": "1e30"})], "is not unpacked: timestamp"),
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

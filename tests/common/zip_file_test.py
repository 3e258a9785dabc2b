import os
import stat
import zipfile
from pathlib import Path

import pytest

from elmo_tasks.common import unpacking
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.unpacking import unpacked

CONTENT = {"options.json": b"{}", "220/model.hdf5": os.urandom(5000)}


def zipped(path: Path, *members: tuple[zipfile.ZipInfo | str, bytes], kind: int = 8) -> Path:
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, content in (*CONTENT.items(), *members):
            file.writestr(name, content)
    return path


def refusal(archive: Path) -> str:
    with pytest.raises(ConfigurationError) as caught, unpacked(archive):
        pass
    return str(caught.value).removeprefix(str(archive))


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_the_files_of_a_zip_file_are_unpacked(tmp_path: Path) -> None:
    with unpacked(zipped(tmp_path / "a.zip")) as folder:
        assert {name: Path(folder, name).read_bytes() for name in CONTENT} == CONTENT

    assert not Path(folder).exists()


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        (("../../x", b""), "would lie outside the folder"),
        (("/x", b""), "would lie outside the folder"),
        ((link("a"), b"/etc/passwd"), "is neither a file nor a folder"),
        (("/".join(21 * "a"), b""), "has more than 20 parts"),
        (("zeros", bytes(10**6)), "of 1,000,000 bytes makes it unpack to more than"),
    ],
)
def test_a_member_that_must_not_be_unpacked_is_refused_by_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    member: tuple[zipfile.ZipInfo | str, bytes],
    problem: str,
) -> None:
    monkeypatch.setattr(unpacking, "MORE_BYTES", 10**5)

    message = refusal(zipped(tmp_path / "a.zip", member))

    assert message.startswith(" is not unpacked: its member ") and problem in message


def test_a_header_that_lies_about_a_size_makes_the_file_damaged(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("zeros", bytes(10**6)))
    content = archive.read_bytes()
    archive.write_bytes(content.replace((10**6).to_bytes(4, "little"), bytes([9, 0, 0, 0])))

    assert "is not a whole archive: Bad CRC-32 for file 'zeros'" in refusal(archive)


def test_other_kinds_of_packing_and_encryption_are_refused(tmp_path: Path) -> None:
    plain = zipped(tmp_path / "b.zip").read_bytes()
    place = plain.index(b"PK\1\2") + 8
    (tmp_path / "b.zip").write_bytes(plain[:place] + b"\1" + plain[place + 1 :])

    for archive in (zipped(tmp_path / "a.zip", kind=zipfile.ZIP_LZMA), tmp_path / "b.zip"):
        assert "is encrypted, or not compressed by deflate" in refusal(archive)


@pytest.mark.parametrize("part", [0.001, 0.3, 0.9, 0.999])
def test_a_zip_file_that_is_cut_short_is_refused(tmp_path: Path, part: float) -> None:
    archive = zipped(tmp_path / "a.zip")
    archive.write_bytes(archive.read_bytes()[: int(2 + part * archive.stat().st_size)])

    assert refusal(archive).startswith(" is not a whole archive: ")


def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip").read_bytes()
    archive = tmp_path / "b.zip"
    num_refused = 0
    for position in range(2, len(whole), 13):
        changed = bytes([whole[position] ^ 4])
        archive.write_bytes(whole[:position] + changed + whole[position + 1 :])
        try:
            with unpacked(archive) as folder:
                found = [path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()]
                assert sorted(found) == sorted(CONTENT.values())
        except ConfigurationError as error:
            assert str(error).startswith(f"{archive} is not ")
            num_refused += 1

    assert num_refused > 350


def test_a_list_of_members_that_would_fill_memory_is_not_read(tmp_path: Path) -> None:
    long, second = zipped(tmp_path / "a.zip"), zipped(tmp_path / "b.zip")
    whole = long.read_bytes()
    end = whole.rindex(b"PK\5\6")
    long.write_bytes(whole[: end + 12] + (2**31).to_bytes(4, "little") + whole[end + 16 :])
    second.write_bytes(whole[:end] + b"PK\6\7" + bytes(16) + whole[end:])

    assert "its list of members has 2,147,483,648 bytes" in refusal(long)
    assert "it has more than four gigabytes or 65,535 members" in refusal(second)

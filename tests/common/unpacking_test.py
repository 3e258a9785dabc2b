import gzip
import io
import os
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from elmo_tasks.common import member_bounds, unpacking
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


def packed(path: Path, members: Iterable[tarfile.TarInfo] = ()) -> Path:
    """Packs `FILES` and further members of zeros."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in FILES.items():
            tar.addfile(member(name, len(content)), io.BytesIO(content))
        for further in members:
            tar.addfile(further, io.BytesIO(bytes(further.size)))
    return path


def content(folder: str | Path) -> dict[str, bytes]:
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def refusal(archive: Path) -> str:
    with pytest.raises(ConfigurationError) as caught, unpacked(archive):
        pass
    return str(caught.value).removeprefix(str(archive))


def test_files_are_unpacked_and_removed_after_the_block(tmp_path: Path, temporary: Path) -> None:
    with unpacked(packed(tmp_path / "a.tar.gz")) as folder:
        assert content(folder) == FILES
        # So that a message about one of the files says where it was.
        assert Path(folder).name.startswith("a.tar.gz-")

    assert not os.listdir(temporary)


def test_they_stay_if_asked_but_not_after_an_error(tmp_path: Path, temporary: Path) -> None:
    archive = packed(tmp_path / "a.tar.gz")
    with unpacked(archive, keep=True) as folder:
        pass
    assert content(folder) == FILES

    with pytest.raises(KeyError), unpacked(archive, keep=True):
        raise KeyError

    assert os.listdir(temporary) == [Path(folder).name]


@pytest.mark.parametrize(
    ("name", "fields", "problem"),
    [
        ("../../x", {}, "would lie outside the folder that it is unpacked to"),
        ("vocabulary/../../x", {}, "would lie outside"),
        ("/x", {}, "would lie outside"),
        ("../temporary_2/x", {}, "would lie outside"),
        # Python removes a folder of a thousand folders by recursion.
        ("/".join(21 * "a"), {}, "has more than 20 parts"),
        ("a", {"type": tarfile.SYMTYPE, "linkname": "/etc"}, "is neither a file nor a folder"),
        ("a", {"type": tarfile.LNKTYPE, "linkname": "config.json"}, "is neither a file nor"),
        ("a", {"type": tarfile.FIFOTYPE}, "is neither a file nor a folder"),
        ("a", {"type": tarfile.CHRTYPE}, "is neither a file nor a folder"),
        ("a", {"type": tarfile.BLKTYPE}, "is neither a file nor a folder"),
    ],
)
def test_a_member_that_belongs_elsewhere_is_refused_by_name(
    tmp_path: Path, temporary: Path, name: str, fields: dict, problem: str
) -> None:
    archive = packed(tmp_path / "a.tar.gz", [member(name, **fields)])

    message = refusal(archive)

    assert message.startswith(f" is not unpacked: its member {name!r} {problem}")
    assert not os.listdir(temporary)
    assert {path.name for path in tmp_path.iterdir()} == {"a.tar.gz", "temporary"}


def test_a_link_cannot_be_written_through(tmp_path: Path) -> None:
    link = member("a", type=tarfile.SYMTYPE, linkname=str(tmp_path))
    archive = packed(tmp_path / "a.tar.gz", [link, member("a/x", 1)])

    assert "its member 'a' is neither" in refusal(archive)
    assert not (tmp_path / "x").exists()


def test_owners_and_permissions_are_not_taken(tmp_path: Path) -> None:
    special = member("program", mode=0o6777, uid=12345, gid=12345)

    with unpacked(packed(tmp_path / "a.tar.gz", [special])) as folder:
        status = os.stat(Path(folder) / "program")

    assert status.st_mode & 0o7111 == 0 and status.st_uid == os.getuid()


def test_a_member_that_unpacks_to_too_much_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = packed(tmp_path / "a.tar.gz", [member("zeros", 10**6)])
    monkeypatch.setattr(unpacking, "MORE_BYTES", 10**5)
    most = 20 * archive.stat().st_size + 10**5

    assert f"its member 'zeros' of 1,000,000 bytes makes it unpack to more than {most:,} bytes" in (
        refusal(archive)
    )


def test_a_name_that_no_file_system_takes_is_refused(tmp_path: Path) -> None:
    assert "or one of more than 255 bytes" in refusal(
        packed(tmp_path / "a.tar.gz", [member("a" * 256)])
    )


def test_a_path_that_no_file_system_takes_is_refused(tmp_path: Path, temporary: Path) -> None:
    archive = packed(tmp_path / "a.tar.gz", [member("/".join(20 * ["a" * 250]))])

    assert refusal(archive) == " is not a whole archive: File name too long"
    assert not os.listdir(temporary)


def test_many_small_members_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MORE_BYTES", 10**5)
    monkeypatch.setattr(member_bounds, "MAX_MEMBERS", 100)
    many = [member(f"zeros_{index}", 10**4) for index in range(90)]
    names = [member(f"empty_{index}") for index in range(100)]

    assert "its member 'zeros_" in refusal(packed(tmp_path / "a.tar.gz", many))
    assert "is one of more than 100" in refusal(packed(tmp_path / "b.tar.gz", names))


def test_a_header_of_many_bytes_is_refused(tmp_path: Path) -> None:
    archive = packed(tmp_path / "a.tar.gz", [member("a", pax_headers={"comment": "x" * 2**21})])

    assert " is not a whole archive: a header asks for 2,09" in refusal(archive)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_an_archive_that_is_cut_short_is_refused(tmp_path: Path, part: float) -> None:
    archive = packed(tmp_path / "a.tar.gz")
    archive.write_bytes(archive.read_bytes()[: int(part * archive.stat().st_size)])

    assert refusal(archive).startswith(" is not a whole archive: ")


def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    whole = packed(tmp_path / "a.tar.gz").read_bytes()
    archive = tmp_path / "b.tar.gz"
    num_refused = 0
    # The bytes before hold a time and a name, which nobody reads.
    for position in range(24, len(whole), 50):
        changed = bytes([whole[position] ^ 4])
        archive.write_bytes(whole[:position] + changed + whole[position + 1 :])
        try:
            with unpacked(archive) as folder:
                assert content(folder) == FILES
        except ConfigurationError as error:
            assert str(error).startswith(f"{archive} is not a whole archive: ")
            num_refused += 1

    assert num_refused > 90


def test_other_files_are_refused(tmp_path: Path) -> None:
    text, tar = tmp_path / "text", tmp_path / "tar"
    text.write_text("text")
    tar.write_bytes(gzip.compress(b"text"))
    os.mkfifo(tmp_path / "pipe")

    assert refusal(text).startswith(" is not a whole archive: it is neither a zip file nor")
    assert refusal(tar).startswith(" is not a whole archive: ")
    assert refusal(tmp_path / "pipe") == " is not a file, but a pipe"
    assert refusal(tmp_path) == " is not a file, but a folder"

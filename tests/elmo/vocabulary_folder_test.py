import os
from pathlib import Path

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import vocabulary_folder
from elmo_tasks.elmo.vocabulary_folder import check_vocabulary


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    (path / "vocabulary").mkdir(parents=True)
    (path / "vocabulary" / "tokens.txt").write_text("a\nb\n")
    return path


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        check_vocabulary(folder, "model.tar.gz")
    return str(caught.value)


def test_files_and_links_within_the_folder_pass(folder: Path) -> None:
    (folder / "labels.txt").write_text("x\n")
    (folder / "vocabulary" / "labels.txt").symlink_to("../labels.txt")
    (folder / "vocabulary" / ".lock").touch()

    check_vocabulary(folder, "model.tar.gz")


def test_the_links_of_a_repository_lead_to_its_blobs(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshots" / "a"
    (snapshot / "vocabulary").mkdir(parents=True)
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "b").write_text("a\n")
    link = snapshot / "vocabulary" / "tokens.txt"
    link.symlink_to("../../../blobs/b")

    check_vocabulary(snapshot, "owner/name")

    link.unlink()
    link.symlink_to("../../../b")
    assert "tokens.txt is a link out of the folder" in refusal(snapshot)


@pytest.mark.parametrize("name", ["tokens.txt", "more.txt", ".lock", ".counts.json"])
@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "../../outside", "../../missing"])
def test_a_link_out_of_the_folder_is_refused(folder: Path, name: str, target: str) -> None:
    (folder.parent / "outside").touch()
    link = folder / "vocabulary" / name
    link.unlink(missing_ok=True)
    link.symlink_to(target)

    expected = f"model.tar.gz: vocabulary/{name} is a link out of the folder of the model"
    assert refusal(folder) == expected


def test_a_lock_that_is_a_link_is_refused_because_it_would_be_emptied(folder: Path) -> None:
    (folder / "vocabulary" / ".lock").symlink_to("tokens.txt")

    assert refusal(folder) == "model.tar.gz: vocabulary/.lock is a link"


def test_the_folder_itself_may_be_no_link_out_and_no_file(folder: Path, tmp_path: Path) -> None:
    (folder / "vocabulary").rename(tmp_path / "vocabulary")
    (folder / "vocabulary").symlink_to("../vocabulary")
    assert "vocabulary is a link out" in refusal(folder)

    (folder / "vocabulary").unlink()
    (folder / "vocabulary").write_bytes(b"PK")
    assert refusal(folder) == "model.tar.gz has no folder vocabulary"


def test_a_pipe_and_a_folder_are_refused(folder: Path) -> None:
    os.mkfifo(folder / "vocabulary" / "a.txt")
    assert "a.txt is not a file, but a pipe" in refusal(folder)

    (folder / "vocabulary" / "a.txt").unlink()
    (folder / "vocabulary" / "a.txt").mkdir()
    assert "a.txt is not a file, but a folder" in refusal(folder)


def test_many_bytes_are_refused_unread_and_many_lines_unparsed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(folder / "vocabulary" / "tokens.txt", "r+b") as sparse:
        sparse.truncate(10**8)
    (folder / "vocabulary" / "a.txt").write_text("a")
    assert "tokens.txt makes a vocabulary of more than 100,000,000 bytes or" in refusal(folder)

    (folder / "vocabulary" / "tokens.txt").write_text("a\nb\n")
    monkeypatch.setattr(vocabulary_folder, "MAX_LINES", 2)
    check_vocabulary(folder, "model.tar.gz")
    (folder / "vocabulary" / "a.txt").write_text("a\n")
    assert "tokens.txt makes a vocabulary of more" in refusal(folder)

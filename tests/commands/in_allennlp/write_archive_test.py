import tarfile
from pathlib import Path
from typing import Any

import pytest
from allennlp.models.archival import archive_model

from elmo_tasks.commands.in_allennlp.write_archive import write_archive


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the folder of a training in the working directory."""
    monkeypatch.chdir(tmp_path)
    # As outside of the tests, which pack all archives fast.
    gzopen: Any = tarfile.TarFile.gzopen
    monkeypatch.setattr(gzopen.__func__, "__defaults__", ("r", None, 9))
    for name in ("config.json", "meta.json", "best.th", "vocabulary/tokens.txt", "extra/a.txt"):
        Path("run", name).parent.mkdir(parents=True, exist_ok=True)
        Path("run", name).write_text(name)
    return Path("run")


def members(path: Path | str) -> dict[str, bytes | None]:
    with tarfile.open(path) as archive:
        files = [(each.name, archive.extractfile(each)) for each in archive]
        return {name: None if file is None else file.read() for name, file in files}


@pytest.mark.parametrize("included", [None, ["extra"], ["extra/*.txt", "nothing"]])
def test_an_archive_has_the_members_of_allennlps(run: Path, included: list[str] | None) -> None:
    theirs = archive_model(run, archive_path="theirs.tar.gz", include_in_archive=included)

    ours = write_archive(run, include_in_archive=included)

    assert ours == run / "model.tar.gz" and members(ours) == members(theirs)
    # gzip writes 4 for its fastest level, and 2 for its slowest.
    assert ours.read_bytes()[8] == 4 and Path(theirs).read_bytes()[8] == 2


def test_an_interrupted_training_gives_the_path_of_its_weights(run: Path) -> None:
    write_archive(run, weights="run/best.th")

    assert members("run/model.tar.gz")["weights.th"] == b"best.th"


def test_an_archive_without_weights_is_refused_and_leaves_no_file(run: Path) -> None:
    (run / "best.th").unlink()

    with pytest.raises(FileNotFoundError, match="best.th"):
        write_archive(run)

    assert not list(run.glob("*.tar.gz*")) and not list(run.glob(".*"))

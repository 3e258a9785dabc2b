import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.language_model.heldout import say_what_is_read_twice
from elmo_tasks.language_model.loaders import SentenceLoader
from elmo_tasks.readers.sentences import SentencesReader
from elmo_tasks.readers.sst import SstReader
from tests.helpers.configs import ROOT
from tests.helpers.language_model_configs import CORPUS, shrunk
from tests.helpers.training import train

SAID = "the held-out text is training text, too"


def loader(path: object, reader: SentencesReader | None = None) -> SentenceLoader:
    return SentenceLoader(reader or SentencesReader(), str(path))


def other_spelling(path: Path) -> str:
    return f"{path.parent}/./{path.name}"


def link(path: Path) -> str:
    (path.parent / "link.txt").symlink_to(path)
    return str(path.parent / "link.txt")


def hard_link(path: Path) -> str:
    os.link(path, path.parent / "hard.txt")
    return str(path.parent / "hard.txt")


def copied(path: Path) -> str:
    return str(shutil.copy(str(path), path.parent / "copy.txt"))


def compressed(path: Path) -> str:
    packed = path.parent / "copy.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return str(packed)


@pytest.mark.parametrize("other_name", [str, other_spelling, link, hard_link, copied, compressed])
def test_a_training_file_by_any_name_is_no_held_out_text(
    other_name: Callable[[Path], str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "text"
    folder.mkdir()
    for name in "123":
        (folder / f"{name}.txt").write_text(f"boat {name}\n")
    training = loader(folder / "?.txt")

    say_what_is_read_twice(training, loader(other_name(folder / "2.txt")))

    (line,) = caplog.messages
    assert SAID in line and f"{folder}/2.txt)" in line and "hold out other sentences" in line


def test_other_text_of_the_same_size_is_held_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "train.txt").write_text("boat 1\n")
    (tmp_path / "heldout.txt").write_text("boat 2\n")

    say_what_is_read_twice(loader(tmp_path / "train.txt"), loader(tmp_path / "heldout.txt"))
    say_what_is_read_twice(loader(tmp_path / "train.txt"), None)

    assert not caplog.messages


def test_the_file_of_a_task_is_compared_too(caplog: pytest.LogCaptureFixture) -> None:
    path, reader = ROOT / "fixtures" / "sst.txt", SentencesReader(reader=SstReader())

    say_what_is_read_twice(loader(path, reader), loader(path, reader))

    assert SAID in caplog.text


def test_a_training_says_so(tmp_path: Path) -> None:
    change = f"{{ validation_data_path: '{CORPUS}', trainer+: {{ num_epochs: 2 }} }}"

    train(shrunk("small", change), tmp_path / "run")

    assert (tmp_path / "run" / "out.log").read_text().count(SAID) == 1

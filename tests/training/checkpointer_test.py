import errno
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.models import load_archive
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.sentences import SentencesReader
from elmo_tasks.training.checkpointer import ElmoCheckpointer
from scripts.faults import difference, results
from tests.helpers import processes
from tests.helpers.language_model_configs import OFTEN_SAVED, shrunk
from tests.helpers.stop_callback import KILL, STOP_AT
from tests.helpers.training import train

STOPPED = (
    "{ trainer+: { callbacks+: ['stop'], checkpointer+: { keep_most_recent_by_count: null } } }"
)


@pytest.mark.fork
def test_a_killed_training_ends_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, folder = shrunk("small", OFTEN_SAVED, STOPPED), tmp_path / "run"
    train(config, tmp_path / "whole")

    def train_until_killed() -> None:
        os.environ.update({STOP_AT: "1:7", KILL: "process"})
        train(config, folder)

    assert processes.run(train_until_killed) == -signal.SIGKILL
    saved = {path.name for path in folder.glob("*_state_*.th")}
    assert "training_state_e1_b4.th" in saved and "training_state_e1_b8.th" not in saved
    reads, sentences = [], SentencesReader.sentences

    def count_reads(reader: SentencesReader, path: str, *args: Any) -> Any:
        reads.append(Path(path).name)
        return sentences(reader, path, *args)

    monkeypatch.setattr(SentencesReader, "sentences", count_reads)
    train(config, folder, recover=True)

    assert not difference(results(tmp_path / "whole"), results(folder))
    # The two unfinished epochs read the text; the finished epoch and the vocabulary do not.
    assert reads == ["train.txt", "heldout.txt"] * 2
    load_archive(folder / "model.tar.gz")


def trainer_at(epochs: int, batches: int) -> Any:
    """A trainer whose weights tell when they were saved."""
    when = {"epochs_completed": epochs, "batches_in_epoch_completed": batches}
    checkpoint = TrainerCheckpoint({"weight": torch.tensor([epochs, batches])}, when)
    return SimpleNamespace(get_checkpoint_state=lambda: checkpoint)


def saved(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def loaded(folder: Path) -> tuple[list[int], dict[str, Any]] | None:
    checkpoint = ElmoCheckpointer(folder).load_checkpoint()
    return checkpoint and (checkpoint[0]["weight"].tolist(), checkpoint[1])


def test_the_last_checkpoint_is_loaded_and_two_are_kept(tmp_path: Path) -> None:
    checkpointer = ElmoCheckpointer(tmp_path)
    assert loaded(tmp_path) is None
    for when in [(0, 3), (0, 12), (1, 0), (1, 3)]:
        checkpointer.save_checkpoint(trainer_at(*when))

    assert saved(tmp_path) == [
        f"{name}_state_{when}.th" for name in ("model", "training") for when in ("e1_b0", "e1_b3")
    ]
    assert loaded(tmp_path) == ([1, 3], {"epochs_completed": 1, "batches_in_epoch_completed": 3})


def test_half_a_checkpoint_is_passed_over_and_removed(tmp_path: Path) -> None:
    checkpointer = ElmoCheckpointer(tmp_path)
    for when in [(0, 3), (1, 0)]:
        checkpointer.save_checkpoint(trainer_at(*when))
    # One process was killed between the two files, another while it wrote a file.
    (tmp_path / "training_state_e1_b0.th").unlink()
    (tmp_path / ".model_state_e1_b3.th.x1y2").write_bytes(b"half")
    complete = ["model_state_e0_b3.th", "training_state_e0_b3.th"]

    assert checkpointer.find_latest_checkpoint() == tuple(str(tmp_path / name) for name in complete)
    assert loaded(tmp_path) == ([0, 3], {"epochs_completed": 0, "batches_in_epoch_completed": 3})
    assert saved(tmp_path) == complete


@pytest.mark.parametrize("call", [1, 2])
def test_a_full_disk_leaves_the_checkpoint_before(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpointer = ElmoCheckpointer(tmp_path)
    checkpointer.save_checkpoint(trainer_at(0, 3))
    before = saved(tmp_path)
    calls, save = [], torch.save

    def full_disk(content: Any, path: Path) -> None:
        calls.append(path)
        if len(calls) == call:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        save(content, path)

    monkeypatch.setattr(torch, "save", full_disk)
    with pytest.raises(OSError, match="No space left"):
        checkpointer.save_checkpoint(trainer_at(1, 0))

    assert set(saved(tmp_path)) - set(before) <= {"model_state_e1_b0.th"}
    assert loaded(tmp_path) == ([0, 3], {"epochs_completed": 0, "batches_in_epoch_completed": 3})
    assert saved(tmp_path) == before


def test_a_damaged_checkpoint_is_an_error_with_its_file(tmp_path: Path) -> None:
    paths = tmp_path / "model_state_e0_b1.th", tmp_path / "training_state_e0_b1.th"
    for damaged in paths:
        for path in paths:
            torch.save({"a": torch.arange(1000.0)}, path)
        content = bytearray(damaged.read_bytes())
        content[content.index(torch.arange(1000.0).numpy().tobytes())] ^= 1
        damaged.write_bytes(content)

        with pytest.raises(ConfigurationError, match=f"{damaged} is damaged, .*: the checksum of"):
            ElmoCheckpointer(tmp_path).load_checkpoint()


def test_the_clock_says_when_to_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpointer = ElmoCheckpointer(tmp_path, save_every_num_seconds=60)
    start = checkpointer._last_save_time
    seen = []
    for batches, seconds in [(1, 59), (2, 61), (3, 70), (4, 122)]:
        monkeypatch.setattr("time.time", lambda seconds=seconds: start + seconds)
        if checkpointer.maybe_save_checkpoint(trainer_at(0, batches), 0, batches):
            seen.append(batches)

    assert seen == [2, 4]

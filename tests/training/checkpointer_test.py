import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.training.checkpointer import ElmoCheckpointer
from tests.helpers.workers import together


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


def test_several_processes_count_batches_in_place_of_seconds(tmp_path: Path) -> None:
    def work(rank: int) -> None:
        either = ElmoCheckpointer(str(tmp_path), save_every_num_seconds=600)
        neither = ElmoCheckpointer(str(tmp_path))
        assert either._save_every_num_batches == 1000 and neither._save_every_num_batches is None
        assert either._save_every_num_seconds is None

    together(work, tmp_path)


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
    (tmp_path / ".model_state_e1_b3.th.x1y2z3_4").write_bytes(b"half")
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
    with pytest.raises(OSError):
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

import codecs
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.torch_file import check_torch_file
from elmo_tasks.training.random_state import get_random_state


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.save({"a": torch.arange(1000.0), "b": [1, "x"]}, tmp_path / "state.th")
    return tmp_path / "state.th"


def refusal(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        check_torch_file(path)
    return str(caught.value).removeprefix(str(path))


def test_what_torch_saves_is_fine(path: Path) -> None:
    check_torch_file(path)


def test_the_state_of_a_training_is_fine_and_may_share_its_parts(path: Path) -> None:
    model, betas = torch.nn.Linear(2, 2), (0.9, 0.99)
    groups = [{"params": [each], "betas": betas} for each in model.parameters()]
    optimizer = torch.optim.Adam(groups)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    metrics = {"best": [numpy.float64(0.5), numpy.bool_(True)], "big": 10**18, "none": None}
    state = {"model": model.state_dict(), "tied": [model.weight, model.weight]}
    state |= {"random": get_random_state(), "metrics": metrics, "last": metrics}
    state |= {"half": torch.ones(2).half(), "size": torch.Size([2]), "type": torch.bfloat16}

    torch.save({**state, "optimizer": optimizer.state_dict()}, path)

    check_torch_file(path)


class Call:
    """Is pickled as a call."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


def doubled(function: Any, *args: Any) -> Any:
    value: Any = "a"
    for _ in range(20):
        value = Call(function, value, *args)
    return value


def twice(depth: int) -> tuple[Any, ...]:
    value: tuple[Any, ...] = ()
    for _ in range(depth):
        value = (value, value)
    return value


def within(depth: int) -> tuple[Any, ...]:
    value: tuple[Any, ...] = ()
    for _ in range(depth):
        value = (value,)
    return value


ITSELF: list[Any] = []
ITSELF.append(ITSELF)

# Fills a list after it is in another list: )]q\x01 makes a list, h\x01 reads it, a appends.
LATE = b"\x80\x02]q\x00]q\x01ah\x01h\x00aa."


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        # The hash of the key has 2^20 steps, and with 60 levels no end.
        ({twice(20): 1}, "a value has more than 1,000,000 items"),
        ([twice(20)], "a value has more than 1,000,000 items"),
        # The hash of a key of 10^6 tuples overruns the stack of C.
        ({within(60): 1}, "a value is nested more than 50 deep"),
        (ITSELF, "the pickle changes a value that another value already contains"),
        (LATE, "the pickle changes a value that another value already contains"),
        (Call(bytearray, 10**11), "the pickle names '__builtin__ bytearray'"),
        (Call(torch.Tensor, 10**11), "the pickle names 'torch Tensor'"),
        (doubled(codecs.encode, "hex"), "the pickle calls _codecs encode as `torch.save`"),
        (Call(numpy.dtype, "V1000000000"), "the pickle calls numpy dtype as `torch.save` does not"),
        (bytes(4 * 10**6 + 1), "the pickle has more than 4,000,000 bytes"),
        (b"\x80\x02(.", "reads a value that is not there"),
        (b"\x80\x02h\x05.", "5"),
        (b"\x80\x02R.", "reads a value that is not there"),
        (b"\x80\x02", "pickle exhausted before seeing STOP"),
    ],
)
def test_a_pickle_that_torch_would_not_write_is_refused(
    path: Path, value: Any, problem: str
) -> None:
    data = value if isinstance(value, bytes) else pickle.dumps(value, protocol=2)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        file.writestr("state/data.pkl", data)
        file.writestr("state/version", "3")

    assert problem in refusal(path)


@pytest.mark.parametrize("ending", ["", "zip"])
def test_a_file_that_torch_would_read_as_a_pickle_alone_is_refused(path: Path, ending: str) -> None:
    whole = path.read_bytes()
    torch.save({"a": torch.ones(1)}, path, _use_new_zipfile_serialization=False)
    if ending:
        path.write_bytes(path.read_bytes() + whole)

    assert " it does not begin as files of version 1.6 or later" in refusal(path)


def test_a_changed_number_is_noticed_that_torch_does_not_notice(path: Path) -> None:
    content = bytearray(path.read_bytes())
    at = content.index(torch.arange(1000.0).numpy().tobytes())
    content[at + 403] ^= 1
    path.write_bytes(content)
    assert not torch.equal(torch.load(path)["a"], torch.arange(1000.0))

    assert refusal(path) == " is damaged: the checksum of 'state/data/0' is wrong"


def test_packed_records_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("state/data.pkl", bytes(10**6))

    assert refusal(path).startswith(" holds 'state/data.pkl' compressed, but")


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_short_is_refused(path: Path, part: float) -> None:
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])

    assert refusal(path).startswith(" is damaged, or not a file of PyTorch: ")


def test_other_files_are_refused(path: Path, tmp_path: Path) -> None:
    path.write_bytes(pickle.dumps(1, protocol=0))
    os.mkfifo(tmp_path / "pipe")

    assert refusal(path).startswith(" is damaged, or not a file of PyTorch: ")
    assert refusal(tmp_path / "pipe") == " is not a file, but a pipe"

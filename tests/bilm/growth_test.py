"""What a frozen biLM asks for grows with the tokens, and no faster."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from elmo_tasks.bilm import BiLm, make_bilm
from tests.helpers.bilm_examples import ids_of, sentences
from tests.helpers.reference_bilm import FIXTURE_FILES

NUM_TOKENS = 600


class _Bytes(TorchDispatchMode):
    """Counts the bytes of the results of all operators, views included, and the largest result."""

    def __init__(self) -> None:
        super().__init__()
        self.total = self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self.total += tensor.nbytes
                self.largest = max(self.largest, tensor.nbytes)
        return result


def _bytes(bilm: BiLm, num_lines: int, length: int) -> tuple[int, int]:
    words = [word for line in sentences(NUM_TOKENS) for word in line]
    char_ids = ids_of([words[row * length : (row + 1) * length] for row in range(num_lines)])
    assert char_ids.shape[:2] == (num_lines, length)
    with _Bytes() as counted:
        bilm(char_ids)
    return counted.total, counted.largest


@pytest.fixture
def bilm() -> Iterator[BiLm]:
    # Operators on other threads are not seen.
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield make_bilm(*FIXTURE_FILES, state="reset").eval()
    torch.set_num_threads(before)


@pytest.mark.parametrize("what", ["the length of a line", "the lines of a batch"])
def test_bytes_grow_with_the_tokens(bilm: BiLm, what: str) -> None:
    def of(num_tokens: int) -> tuple[int, int]:
        by_length = what == "the length of a line"
        return _bytes(bilm, 1 if by_length else num_tokens, num_tokens if by_length else 1)

    of(NUM_TOKENS)
    once, twice = of(NUM_TOKENS // 2), of(NUM_TOKENS)

    # Four times as many if anything were quadratic. Rounding of rows adds some.
    for small, large in zip(once, twice):
        assert 1.2 * small < large < 2.5 * small

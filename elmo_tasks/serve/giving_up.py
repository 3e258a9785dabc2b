from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch import nn

_useless: ContextVar[Callable[[], bool] | None] = ContextVar("useless", default=None)


class GivenUpError(Exception):
    """Raised if nobody waits for the answer any more."""


@contextmanager
def give_up_when(useless: Callable[[], bool]) -> Iterator[None]:
    """
    Raises `GivenUpError` in this block, in models given to `can_give_up`, once `useless()` is true.
    """
    token = _useless.set(useless)
    try:
        yield
    finally:
        _useless.reset(token)


def can_give_up(model: nn.Module) -> None:
    """Lets `give_up_when` stop a model before any `forward` of the model or of its modules."""
    for module in model.modules():
        module.register_forward_pre_hook(_ask)


def _ask(module: nn.Module, inputs: Any) -> None:
    if (useless := _useless.get()) is not None and useless():
        raise GivenUpError

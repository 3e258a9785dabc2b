"""Lets threads disturb each other."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def switching_often() -> Iterator[None]:
    """Lets Python switch between threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)

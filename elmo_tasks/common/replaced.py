from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(module: Any, **values: Any) -> Iterator[None]:
    """
    Gives names of a module other values while the block runs. Only the commands of `elmo-tasks` and
    the repairs in `compat.py` use this.
    """
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)

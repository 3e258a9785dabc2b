"""
Closes databases before this process is forked, because SQLite allows no connection to cross a fork.
The process and the fork open them again when they need them.
"""

import os
import weakref
from typing import Any, Protocol


class Closable(Protocol):
    """A database that is used under a lock and opens itself when it is used."""

    # A `threading.RLock`, which is no type for a checker.
    lock: Any

    def close(self) -> None: ...


_ALL: "weakref.WeakSet[Closable]" = weakref.WeakSet()

# The databases that the thread that forks has locked.
_held: list[Closable] = []


def close_before_forks(database: Closable) -> None:
    """Closes a database before each fork, and keeps other threads from using it meanwhile."""
    _ALL.add(database)


def _before() -> None:
    for database in list(_ALL):
        database.lock.acquire()
        database.close()
        _held.append(database)


def _after() -> None:
    while _held:
        _held.pop().lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)

"""
Keeps other threads from using databases and caches while this process is forked. Otherwise the fork
could inherit a lock that is never released. Closes the databases before the fork, because SQLite
allows no connection to cross it. The process and the fork open them again when they need them.
"""

import os
import weakref
from typing import Any, Protocol


class Lockable(Protocol):
    """An object that is used under a lock."""

    # This is a `threading.RLock`, which type checkers do not accept as a type.
    lock: Any


class Closable(Lockable, Protocol):
    """A database that is used under a lock and opens itself when it is used."""

    def close(self) -> None: ...


_ALL: "weakref.WeakSet[Lockable]" = weakref.WeakSet()
_CLOSED: "weakref.WeakSet[Closable]" = weakref.WeakSet()

# The locks that the forking thread holds.
_held: list[Any] = []


def hold_during_forks(locked: Lockable) -> None:
    """Keeps other threads from using an object during each fork."""
    _ALL.add(locked)


def close_before_forks(database: Closable) -> None:
    """Closes a database before each fork, and keeps other threads from using it meanwhile."""
    hold_during_forks(database)
    _CLOSED.add(database)


def _before() -> None:
    for locked in list(_ALL):
        locked.lock.acquire()
        _held.append(locked.lock)
    for database in list(_CLOSED):
        database.close()


def _after() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)

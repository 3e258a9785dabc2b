import os
from collections.abc import Sequence

from elmo_tasks.store.database import SUFFIX, LayerDatabase
from elmo_tasks.store.lmdb_database import FILE, LmdbDatabase

AnyDatabase = LayerDatabase | LmdbDatabase


def databases_in(path: str, but: LayerDatabase | None = None) -> Sequence[AnyDatabase]:
    """
    Returns the databases of all files that the folder of a store has now, by their names. An LMDB
    file, which an older version of this package made, comes last.

    # Parameters

    path : `str`
        The folder, which may be missing.
    but : `LayerDatabase`, optional
        A database that is left out.
    """
    path = os.path.expanduser(path)
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return []
    found: list[AnyDatabase] = [
        LayerDatabase.at(path, name.removesuffix(SUFFIX)) for name in names if name.endswith(SUFFIX)
    ]
    if FILE in names:
        found.append(LmdbDatabase.at(path))
    return [database for database in found if database is not but]

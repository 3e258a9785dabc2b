import os

from elmo_tasks.elmo.store.database import SUFFIX, LayerDatabase


def databases_in(path: str, but: LayerDatabase | None = None) -> list[LayerDatabase]:
    """
    Returns the databases of all files that are now in the folder of a store, sorted by name.

    # Parameters

    path: The folder, which may be missing.
    but: A database to leave out.
    """
    path = os.path.expanduser(path)
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return []
    found = [
        LayerDatabase.at(path, name.removesuffix(SUFFIX)) for name in names if name.endswith(SUFFIX)
    ]
    return [database for database in found if database is not but]

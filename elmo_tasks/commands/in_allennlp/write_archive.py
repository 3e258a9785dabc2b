import glob
import os
import tarfile
from collections.abc import Iterable
from pathlib import Path

from allennlp.common.meta import META_NAME
from allennlp.models.archival import _WEIGHTS_NAME, CONFIG_NAME
from allennlp.models.model import _DEFAULT_WEIGHTS

from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.progress import working

# The level of gzip. Weights hardly compress at any level, and Python's default, 9, is the slowest.
_LEVEL = 1


def write_archive(
    folder: str | os.PathLike,
    weights: str | os.PathLike = _DEFAULT_WEIGHTS,
    include_in_archive: Iterable[str] | None = None,
) -> Path:
    """
    Writes `model.tar.gz` to the folder of a training run, with the members of an archive of
    AllenNLP's `archive_model`. The file appears whole or not at all.

    # Parameters

    weights: The file of the weights in the folder.
    include_in_archive: Patterns of further files in the folder.
    """
    folder = Path(folder)
    members = {CONFIG_NAME: CONFIG_NAME, _WEIGHTS_NAME: os.path.basename(weights)}
    members |= {name: name for name in ("vocabulary", META_NAME)}
    for pattern in include_in_archive or ():
        members |= {name: name for name in glob.glob(pattern, root_dir=folder)}
    path = folder / "model.tar.gz"
    with (
        working(f"packing {path}"),
        atomic_write(path) as aside,
        tarfile.open(aside, "w:gz", compresslevel=_LEVEL) as archive,
    ):
        for name, member in members.items():
            archive.add(folder / member, arcname=name)
    return path

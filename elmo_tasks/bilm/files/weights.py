import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import h5py
import numpy
import torch

from elmo_tasks.bilm.files.layout import Array, datasets
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.lexicon import read_vocabulary
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.files import write_whole

StateDict = dict[str, torch.Tensor]

# The exceptions by which h5py reports a damaged file; the kind depends on what is damaged.
HDF5_ERRORS = (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError)

# The most items that are listed. Hard links may make a circle of groups, whose list has no end.
_MAX_ITEMS = 2_000


class Weights:
    """A file of weights that fits the options of a biLM. `open_weights` makes it."""

    def __init__(self, path: str | os.PathLike, file: h5py.File, options: BiLmOptions) -> None:
        self.path, self._file, self.options = path, file, options

    def fill(self, state: StateDict, token_layer: Any) -> None:
        """
        Fills the tensors of a `BiLm`'s state dict in place, so a large file is in memory only once.
        Also fills the words of the word table. Raises `ConfigurationError` if the file holds a
        value that is not a finite number, or if the vocabulary beside the file does not fit.
        """
        problems = []
        with _named_errors(self.path):
            for dataset in datasets(self.options):
                # A number too large for float32 becomes infinite, and is refused.
                with numpy.errstate(over="ignore"):
                    array = self._file[dataset.name][...].astype(numpy.float32)
                problems += _value_problems(dataset.name, array)
                values = numpy.ascontiguousarray(dataset.conversion.convert(array[dataset.rows]))
                state[dataset.key][dataset.tensor_rows] = torch.from_numpy(values)
            _refuse(problems)
        if self.options.num_words:
            token_layer.lexicon.set_words(read_vocabulary(self.path, self.options.num_words))

    def dtypes(self) -> set[str]:
        return {str(self._file[dataset.name].dtype) for dataset in datasets(self.options)}


@contextmanager
def open_weights(path: str | os.PathLike, options: BiLmOptions) -> Iterator[Weights]:
    """
    Opens a file of weights, and checks that it fits the options before a biLM is allocated.

    # Raises

    `ConfigurationError`: The file is missing, is not HDF5, or does not fit the options (the message
        names the dataset and both shapes).
    """
    if not os.path.exists(path):
        raise ConfigurationError(f"there is no file of weights {path}")
    check_regular(path)
    with ExitStack() as stack:
        with _named_errors(path):
            file = stack.enter_context(h5py.File(path, "r"))
            _refuse(_layout_problems(file, options))
        yield Weights(path, file, options)


@contextmanager
def _named_errors(path: str | os.PathLike) -> Iterator[None]:
    """
    Turns any error of reading a file into a `ConfigurationError` that begins with the file's path.
    """
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    except HDF5_ERRORS as error:
        raise ConfigurationError(
            f"{path} cannot be read as HDF5; it may be truncated or another kind of file ({error})"
        ) from error


def _layout_problems(file: h5py.File, options: BiLmOptions) -> list[str]:
    """
    Returns a message for each dataset that is missing, has a wrong shape or cannot be read safely,
    and for each item that no biLM of these options has. Reads only the headers of the file.
    """
    shapes = {dataset.name: dataset.shape for dataset in datasets(options)}
    items = _items_of(file)
    problems = [
        f"{name} is a link; links are not followed"
        if item is None
        else f"has {name}, which the options do not ask for"
        for name, item in items.items()
        if item is None or name not in shapes
    ]
    for name, shape in shapes.items():
        item = items.get(name)
        if isinstance(item, h5py.Dataset):
            if problem := _storage_problem(item, shape):
                problems.append(f"{name} {problem}")
        elif name not in items:
            problems.append(f"has no {name}, which the options ask for")
    return problems


def _value_problems(name: str, array: Array) -> list[str]:
    """Returns a message if a dataset holds values that are not finite."""
    if numpy.isfinite(array).all():
        return []
    return [f"{name} holds a value that is not a finite number"]


def write_weights(
    weight_file: str | os.PathLike, options: BiLmOptions, state: StateDict, dtype: str = "float32"
) -> None:
    """Writes the weights of a `BiLm` in bilm-tf's format. The file appears whole or not at all."""
    # The file is made in memory first: HDF5 ends the process if a disk is full.
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for dataset in datasets(options):
            tensor = state[dataset.key].detach().cpu().float().numpy()
            with numpy.errstate(over="ignore"):
                array = dataset.conversion.revert(tensor[dataset.tensor_rows]).astype(dtype)
            _refuse([f"{problem} as {dtype}" for problem in _value_problems(dataset.name, array)])
            item = file.require_dataset(dataset.name, dataset.shape, dtype)
            item[dataset.rows] = array
    write_whole(weight_file, content.getbuffer())


def _refuse(problems: list[str]) -> None:
    # A matrix that is read in two parts has the same problem twice.
    problems = list(dict.fromkeys(problems))
    if problems:
        more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise ConfigurationError("; ".join(problems[:3]) + more)


def _items_of(file: h5py.File) -> dict[str, h5py.HLObject | None]:
    """
    Returns the datasets of a file by their paths, in alphabetical order. A link has `None` in place
    of a dataset: it may point to another file, so it is not followed. Raises `ValueError` if the
    file has more than 2,000 items.
    """
    items: dict[str, h5py.HLObject | None] = {}
    groups = [("", file["/"])]
    num_items = 0
    while groups:
        prefix, group = groups.pop()
        num_items += len(group)
        if num_items > _MAX_ITEMS:
            raise ValueError(f"it has more than {_MAX_ITEMS:,} items")
        for part in group:
            # A name may be bytes, since HDF5 does not check that it is UTF-8.
            name = part if isinstance(part, str) else part.decode("utf-8", "backslashreplace")
            item = group[part] if _is_hard(group, part) else None
            if isinstance(item, h5py.Group):
                groups.append((f"{prefix}{name}/", item))
            else:
                items[f"{prefix}{name}"] = item
    return dict(sorted(items.items()))


def _is_hard(group: h5py.Group, part: str | bytes) -> bool:
    """
    Returns whether a name in a group stands for an item of this file, not for a soft or external
    link.
    """
    name = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
    return group.id.links.get_info(name).type == h5py.h5l.TYPE_HARD


def _storage_problem(dataset: h5py.Dataset, shape: tuple[int, ...]) -> str | None:
    """
    Returns why the numbers of a dataset are not read, or `None` if they are. The numbers must be in
    the file itself, in one piece and not compressed. Otherwise a small file could fill the memory.
    """
    if dataset.shape is None:
        return "is empty and has no shape"
    if dataset.dtype.kind not in "fiu":
        return f"holds {dataset.dtype}, which are not numbers"
    if dataset.shape != shape:
        return f"has shape {dataset.shape}, but the options ask for {shape}"
    if dataset.is_virtual or dataset.external:
        return "has its numbers in another file or dataset"
    if dataset.chunks is not None:
        return "is compressed or cut into chunks"
    num_stored, num_bytes = dataset.id.get_storage_size(), dataset.size * dataset.dtype.itemsize
    return None if num_stored == num_bytes else f"holds {num_stored:,} of {num_bytes:,} bytes"

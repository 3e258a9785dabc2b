import io
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy
import torch
from allennlp.common.file_utils import cached_path

from elmo_tasks.bilm.char_cnn import NUM_CHARACTERS
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import written_aside

Array = numpy.ndarray
StateDict = dict[str, torch.Tensor]

_RELEASED = "https://allennlp.s3.amazonaws.com/models/elmo/{0}/elmo_{0}_weights.hdf5"
_PRETRAINED = Path(__file__).parents[2] / "pretrained"

# The biLMs that `pretrained_file` knows by name: those of the paper's authors, and ours, which
# come with the package. Their options stand in training_configs/lib/bilms.libsonnet.
KNOWN_BILMS = {
    "small": _RELEASED.format("2x1024_128_2048cnn_1xhighway"),
    "medium": _RELEASED.format("2x2048_256_2048cnn_1xhighway"),
    "original": _RELEASED.format("2x4096_512_2048cnn_2xhighway"),
    "original-5.5B": _RELEASED.format("2x4096_512_2048cnn_2xhighway_5.5B"),
    **{path.parent.name: str(path) for path in _PRETRAINED.glob("*/weights.hdf5")},
}


# What h5py raises where a file is damaged, by where it is.
HDF5_ERRORS = (OSError, RuntimeError, KeyError, ValueError, MemoryError)


class Dataset(NamedTuple):
    """
    A dataset of `weights.hdf5`, or some rows of one, and the rows of the tensor that it fills.

    # Parameters

    name : `str`
        Its path in the file.
    shape : `tuple[int, ...]`
        Of the whole dataset in the file.
    rows : `slice`
        Of the dataset.
    key : `str`
        Of the tensor in the state dict of a `BiLm`.
    tensor_rows : `slice`
        Of the tensor.
    convert, revert : `Callable`
        From the file's orientation (TensorFlow's, x @ W) to ours and back.
    """

    name: str
    shape: tuple[int, ...]
    rows: slice
    key: str
    tensor_rows: slice
    convert: Callable[[Array], Array]
    revert: Callable[[Array], Array]


def _same(array: Array) -> Array:
    return array


def _negate(array: Array) -> Array:
    return -array


def _transpose(array: Array) -> Array:
    return array.T


def _negate_transpose(array: Array) -> Array:
    return -array.T


def _convert_filters(array: Array) -> Array:
    return array[0].transpose(2, 1, 0)


def _revert_filters(array: Array) -> Array:
    return array.transpose(2, 1, 0)[None]


def _gates(order: tuple[int, ...]) -> Callable[[Array], Array]:
    def reorder(array: Array) -> Array:
        blocks = numpy.split(array, 4)
        return numpy.concatenate([blocks[number] for number in order])

    return reorder


# The file has the gates input, candidate, forget, output; we have input, forget, output, candidate.
_to_our_gates, _to_their_gates = _gates((0, 2, 3, 1)), _gates((0, 3, 1, 2))


def _forget_one(array: Array) -> Array:
    """TensorFlow adds 1 to the forget gate when it runs, so that it is not in the file."""
    one = numpy.zeros_like(array)
    one[len(array) // 4 : len(array) // 2] = 1
    return one


def _convert_bias(array: Array) -> Array:
    array = _to_our_gates(array)
    return array + _forget_one(array)


def _revert_bias(array: Array) -> Array:
    return _to_their_gates(array - _forget_one(array))


def _convert_lstm(array: Array) -> Array:
    return _to_our_gates(array.T)


def _revert_lstm(array: Array) -> Array:
    return _to_their_gates(array).T


ALL = slice(None)


def datasets(options: BiLmOptions) -> Iterator[Dataset]:
    """The table of bilm-tf's layout: every dataset of a biLM of these options."""
    n, p = options.num_filters, options.projection_dim
    yield Dataset(
        "char_embed",
        (NUM_CHARACTERS - 1, options.char_dim),
        ALL,
        "char_cnn.embedding",
        slice(1, None),
        _same,
        _same,
    )
    for i, (width, number) in enumerate(options.filters):
        key = f"char_cnn.convolutions.{i}"
        shape = (1, width, options.char_dim, number)
        filters = (_convert_filters, _revert_filters)
        yield Dataset(f"CNN/W_cnn_{i}", shape, ALL, f"{key}.weight", ALL, *filters)
        yield Dataset(f"CNN/b_cnn_{i}", (number,), ALL, f"{key}.bias", ALL, _same, _same)
    for k in range(options.num_highway):
        name, key = f"CNN_high_{k}", f"char_cnn.highways._layers.{k}"
        transform, carry = slice(0, n), slice(n, None)
        negated = (_negate_transpose, _negate_transpose)
        transposed = (_transpose, _transpose)
        yield Dataset(f"{name}/W_transform", (n, n), ALL, f"{key}.weight", transform, *transposed)
        yield Dataset(f"{name}/b_transform", (n,), ALL, f"{key}.bias", transform, _same, _same)
        yield Dataset(f"{name}/W_carry", (n, n), ALL, f"{key}.weight", carry, *negated)
        yield Dataset(f"{name}/b_carry", (n,), ALL, f"{key}.bias", carry, _negate, _negate)
    yield Dataset(
        "CNN_proj/W_proj", (n, p), ALL, "char_cnn.projection.weight", ALL, _transpose, _transpose
    )
    yield Dataset("CNN_proj/b_proj", (p,), ALL, "char_cnn.projection.bias", ALL, _same, _same)
    for d, direction in enumerate(("forward", "backward")):
        for layer in range(options.num_layers):
            yield from _lstm_datasets(options, d, layer, f"{direction}_stack.layers.{layer}")


def _lstm_datasets(options: BiLmOptions, d: int, layer: int, key: str) -> Iterator[Dataset]:
    p, c = options.projection_dim, options.cell_dim
    name = f"RNN_{d}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
    shape, lstm = (2 * p, 4 * c), (_convert_lstm, _revert_lstm)
    yield Dataset(f"{name}/W_0", shape, slice(0, p), f"{key}.input_weight", ALL, *lstm)
    yield Dataset(f"{name}/W_0", shape, slice(p, None), f"{key}.recurrent_weight", ALL, *lstm)
    yield Dataset(f"{name}/B", (4 * c,), ALL, f"{key}.bias", ALL, _convert_bias, _revert_bias)
    yield Dataset(
        f"{name}/W_P_0", (c, p), ALL, f"{key}.projection_weight", ALL, _transpose, _transpose
    )


def num_parameters(options: BiLmOptions) -> int:
    """Numbers in a file of these options."""
    shapes = {dataset.name: dataset.shape for dataset in datasets(options)}
    return sum(map(math.prod, shapes.values()))


def read_weights(weight_file: str | os.PathLike, options: BiLmOptions, state: StateDict) -> None:
    """
    Fills the tensors of a `BiLm`'s state dict from a name in `KNOWN_BILMS`, a path or an address.
    Raises `ConfigurationError` where the file is missing, is not HDF5, does not fit the options
    (with the dataset and both shapes) or holds a value that is not a finite number.
    """
    with open_weights(weight_file) as file:
        _refuse(layout_problems(file, options))
        problems = []
        for dataset in datasets(options):
            array = _array(file, dataset)
            problems += value_problems(dataset.name, array)
            converted = numpy.ascontiguousarray(dataset.convert(array[dataset.rows]))
            state[dataset.key][dataset.tensor_rows] = torch.from_numpy(converted)
        _refuse(problems)


@contextmanager
def open_weights(weight_file: str | os.PathLike) -> Iterator[h5py.File]:
    """
    The file of a name in `KNOWN_BILMS`, a path or an address. What is wrong with it, found here or
    in the block, becomes a `ConfigurationError` that names it.
    """
    path = _local_path(str(weight_file))
    try:
        with h5py.File(path, "r") as file:
            yield file
    except ConfigurationError as error:
        raise ConfigurationError(f"{weight_file}: {error}") from error
    except HDF5_ERRORS as error:
        raise ConfigurationError(
            f"{weight_file} cannot be read as HDF5; it may be truncated or another kind of file "
            f"({error})"
        ) from error


def dataset_names(file: h5py.File) -> list[str]:
    """Of every dataset in a file, sorted."""
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if _is_dataset(item) else None)
    return sorted(names)


def layout_problems(file: h5py.File, options: BiLmOptions) -> list[str]:
    """Every dataset that the options do not ask for, that is missing, or has another shape."""
    asked = {dataset.name: dataset.shape for dataset in datasets(options)}
    unasked = [name for name in dataset_names(file) if name not in asked]
    problems = [f"has {name}, which the options do not ask for" for name in unasked]
    for name, shape in asked.items():
        item = file.get(name)
        if not _is_dataset(item):
            if not _is_left_out(name, options):
                problems.append(f"has no {name}, which the options ask for")
        elif item.dtype.kind not in "fiu":
            problems.append(f"{name} holds {item.dtype}, which are not numbers")
        elif item.shape != shape:
            problems.append(f"{name} has shape {item.shape}, but the options ask for {shape}")
    return problems


def value_problems(name: str, array: Array) -> list[str]:
    num_wrong = array.size - int(numpy.isfinite(array).sum())
    if num_wrong == 0:
        return []
    return [f"{name} holds a value that is not a finite number ({num_wrong} of {array.size} are)"]


def read_array(file: h5py.File, name: str) -> Array:
    # A number too large for float32 becomes infinite, which `value_problems` says.
    with numpy.errstate(over="ignore"):
        return file[name][...].astype(numpy.float32)


def write_weights(
    weight_file: str | os.PathLike,
    options: BiLmOptions,
    state: StateDict,
    dtype: str = "float32",
) -> None:
    """Writes the weights of a `BiLm` in bilm-tf's layout; the file appears whole or not at all."""
    # In memory first: where a disk is full, HDF5 brings the process down.
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for dataset in datasets(options):
            tensor = state[dataset.key].detach().cpu().float().numpy()
            with numpy.errstate(over="ignore"):
                array = dataset.revert(tensor[dataset.tensor_rows]).astype(dtype)
            _refuse([f"{problem} as {dtype}" for problem in value_problems(dataset.name, array)])
            written = file.require_dataset(dataset.name, dataset.shape, dtype)
            written[dataset.rows] = array
    with written_aside(weight_file) as aside:
        aside.write_bytes(content.getbuffer())


def _local_path(name: str) -> str:
    unlike_a_path = not os.path.exists(name) and not any(mark in name for mark in "./")
    if name not in KNOWN_BILMS and unlike_a_path:
        raise ConfigurationError(
            f"no biLM is known as {name!r}, and there is no such file; known are "
            f"{', '.join(sorted(KNOWN_BILMS))}"
        )
    try:
        return str(cached_path(KNOWN_BILMS.get(name, name)))
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of weights {name}") from error
    except OSError as error:
        raise ConfigurationError(
            f"the weights {name} cannot be fetched; a file may be given by its path ({error})"
        ) from error


def _refuse(problems: list[str]) -> None:
    # A matrix in two parts has its problem twice.
    problems = list(dict.fromkeys(problems))
    if problems:
        more = f"; and {len(problems) - 3} more, which `allennlp elmo-check` lists"
        raise ConfigurationError("; ".join(problems[:3]) + (more if len(problems) > 3 else ""))


def _is_dataset(item: object) -> bool:
    return isinstance(item, h5py.Dataset)


def _is_left_out(name: str, options: BiLmOptions) -> bool:
    """bilm-tf has no projection of the filters where it would not change their number."""
    return name.startswith("CNN_proj/") and options.num_filters == options.projection_dim


def _array(file: h5py.File, dataset: Dataset) -> Array:
    if _is_dataset(file.get(dataset.name)):
        return read_array(file, dataset.name)
    # The projection that is left out is the identity.
    shape = dataset.shape
    return numpy.eye(*shape) if len(shape) == 2 else numpy.zeros(shape)

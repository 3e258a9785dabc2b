import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path

from elmo_tasks.bilm.char_cnn import NUM_CHARACTERS
from elmo_tasks.bilm.options import BiLmOptions
from elmo_tasks.files import written_aside

Array = numpy.ndarray
StateDict = dict[str, torch.Tensor]

_RELEASED = "https://allennlp.s3.amazonaws.com/models/elmo/{0}/elmo_{0}_weights.hdf5"
_PRETRAINED = Path(__file__).parents[1] / "pretrained"

# The biLMs that `pretrained_file` knows by name: those of the paper's authors, and ours, which
# come with the package. Their options stand in training_configs/lib/bilms.libsonnet.
KNOWN_BILMS = {
    "small": _RELEASED.format("2x1024_128_2048cnn_1xhighway"),
    "medium": _RELEASED.format("2x2048_256_2048cnn_1xhighway"),
    "original": _RELEASED.format("2x4096_512_2048cnn_2xhighway"),
    "original-5.5B": _RELEASED.format("2x4096_512_2048cnn_2xhighway_5.5B"),
    **{path.parent.name: str(path) for path in _PRETRAINED.glob("*/weights.hdf5")},
}


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


def read_weights(
    weight_file: str | os.PathLike, options: BiLmOptions, template: StateDict
) -> StateDict:
    """
    The state dict of a `BiLm` from a name in `KNOWN_BILMS`, a path or an address; `template` has
    its shapes. Raises `ConfigurationError` where the file is missing, is not HDF5, does not fit
    the options (with the dataset and both shapes) or holds a value that is not a finite number.
    """
    path = _local_path(str(weight_file))
    try:
        with h5py.File(path, "r") as file:
            return _read(file, options, template)
    except OSError as error:
        raise ConfigurationError(
            f"{weight_file} cannot be read as HDF5; it may be truncated or another kind of file "
            f"({error})"
        ) from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{weight_file}: {error.message}") from error


def write_weights(
    weight_file: str | os.PathLike,
    options: BiLmOptions,
    state: StateDict,
    dtype: str = "float32",
) -> None:
    """Writes the weights of a `BiLm` in bilm-tf's layout; the file appears whole or not at all."""
    with written_aside(weight_file) as aside, h5py.File(aside, "w") as file:
        for dataset in datasets(options):
            tensor = state[dataset.key].detach().cpu().float().numpy()
            written = file.require_dataset(dataset.name, dataset.shape, dtype)
            written[dataset.rows] = dataset.revert(tensor[dataset.tensor_rows])


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


def _read(file: h5py.File, options: BiLmOptions, template: StateDict) -> StateDict:
    names: set[str] = set()
    file.visititems(lambda name, item: names.add(name) if isinstance(item, h5py.Dataset) else None)
    unnamed = sorted(names - {dataset.name for dataset in datasets(options)})
    if unnamed:
        raise ConfigurationError(
            f"has {', '.join(unnamed[:3])}, which the options do not ask for: they say "
            f"{options.num_layers} LSTM layers, {options.num_highway} highway layers and "
            f"{len(options.filters)} widths of filters"
        )
    state: StateDict = {}
    for dataset in datasets(options):
        array = _array(file, dataset, options)[dataset.rows]
        tensor = state.setdefault(dataset.key, torch.zeros_like(template[dataset.key]))
        converted = numpy.ascontiguousarray(dataset.convert(array))
        tensor[dataset.tensor_rows] = torch.from_numpy(converted).to(tensor)
    return state


def _array(file: h5py.File, dataset: Dataset, options: BiLmOptions) -> Array:
    if not isinstance(file.get(dataset.name), h5py.Dataset):
        if dataset.name.startswith("CNN_proj/") and options.num_filters == options.projection_dim:
            return (
                numpy.eye(*dataset.shape) if len(dataset.shape) == 2 else numpy.zeros(dataset.shape)
            )
        raise ConfigurationError(f"has no {dataset.name}, which the options ask for")
    array = file[dataset.name][...].astype(numpy.float32)
    if array.shape != dataset.shape:
        raise ConfigurationError(
            f"{dataset.name} has shape {array.shape}, but the options ask for {dataset.shape}"
        )
    if not numpy.isfinite(array).all():
        raise ConfigurationError(f"{dataset.name} holds a value that is not a finite number")
    return array

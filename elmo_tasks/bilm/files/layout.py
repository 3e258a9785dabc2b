from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy

from elmo_tasks.bilm.characters import NUM_CHARACTERS
from elmo_tasks.bilm.files.options import BiLmOptions

Array = numpy.ndarray

ALL = slice(None)


class Dataset(NamedTuple):
    """
    Maps a dataset of `weights.hdf5`, or some of its rows, to the rows of a tensor.

    # Parameters

    name: Path of the dataset in the file.
    shape: Shape of the whole dataset in the file.
    rows: Rows of the dataset.
    key: Key of the tensor in the state dict of a `BiLm`.
    tensor_rows: Rows of the tensor.
    convert, revert: Convert from the file's orientation (TensorFlow's, x @ W) to PyTorch's, and
        back.
    """

    name: str
    shape: tuple[int, ...]
    rows: slice
    key: str
    tensor_rows: slice
    convert: Callable[[Array], Array]
    revert: Callable[[Array], Array]


def datasets(options: BiLmOptions) -> Iterator[Dataset]:
    """Yields the table of bilm-tf's layout: every dataset of a biLM with these options."""
    if options.num_words:
        shape = (options.num_words, options.projection_dim)
        yield Dataset("embedding", shape, ALL, "word_table.embedding", ALL, _same, _same)
    else:
        yield from _character_datasets(options)
    for d, direction in enumerate(("forward", "backward")):
        for layer in range(options.num_layers):
            yield from _lstm_datasets(options, d, layer, f"{direction}_stack.layers.{layer}")


def _character_datasets(options: BiLmOptions) -> Iterator[Dataset]:
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
    for i, (width, num_filters) in enumerate(options.filters):
        key = f"char_cnn.convolutions.{i}"
        shape = (1, width, options.char_dim, num_filters)
        filters = (_convert_filters, _revert_filters)
        yield Dataset(f"CNN/W_cnn_{i}", shape, ALL, f"{key}.weight", ALL, *filters)
        yield Dataset(f"CNN/b_cnn_{i}", (num_filters,), ALL, f"{key}.bias", ALL, _same, _same)
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
        return numpy.concatenate([blocks[gate] for gate in order])

    return reorder


# The file's gates are input, candidate, forget, output; ours are input, forget, output, candidate.
_to_our_gates, _to_their_gates = _gates((0, 2, 3, 1)), _gates((0, 3, 1, 2))


def _forget_one(array: Array) -> Array:
    """
    Returns what TensorFlow adds to the biases at run time, and leaves out of files: 1 for the
    forget gate.
    """
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

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.common.characters import NUM_CHARACTERS

Array = numpy.ndarray

ALL = slice(None)


class Conversion(NamedTuple):
    """
    Converts an array from TensorFlow's layout, which the file has (x @ W), to PyTorch's (x @ W.T),
    and back.
    """

    convert: Callable[[Array], Array]
    revert: Callable[[Array], Array]


def _self_inverse(convert: Callable[[Array], Array]) -> Conversion:
    return Conversion(convert, convert)


_SAME = _self_inverse(lambda array: array)
_NEGATE = _self_inverse(lambda array: -array)
_TRANSPOSE = _self_inverse(lambda array: array.T)
_NEGATE_TRANSPOSE = _self_inverse(lambda array: -array.T)
_FILTERS = Conversion(
    lambda array: array[0].transpose(2, 1, 0), lambda array: array.transpose(2, 1, 0)[None]
)


class Dataset(NamedTuple):
    """
    Maps a dataset of `weights.hdf5`, or some of its rows, to the rows of a tensor.

    # Parameters

    name, shape: Path and shape of the whole dataset in the file.
    key: Key of the tensor in the state dict of a `BiLm`.
    rows, tensor_rows: The rows of the dataset and of the tensor; by default all.
    """

    name: str
    shape: tuple[int, ...]
    key: str
    conversion: Conversion = _SAME
    rows: slice = ALL
    tensor_rows: slice = ALL


def datasets(options: BiLmOptions) -> Iterator[Dataset]:
    """Yields every dataset that bilm-tf's format has for a biLM with these options."""
    if options.num_words:
        shape = (options.num_words, options.projection_dim)
        yield Dataset("embedding", shape, "word_table.embedding")
    else:
        yield from _character_datasets(options)
    for d, direction in enumerate(("forward", "backward")):
        for layer in range(options.num_layers):
            yield from _lstm_datasets(options, d, layer, f"{direction}_stack.layers.{layer}")


def _character_datasets(options: BiLmOptions) -> Iterator[Dataset]:
    n, p = options.num_filters, options.projection_dim
    shape: tuple[int, ...] = (NUM_CHARACTERS - 1, options.char_dim)
    yield Dataset("char_embed", shape, "char_cnn.embedding", tensor_rows=slice(1, None))
    for i, (width, num_filters) in enumerate(options.filters):
        key = f"char_cnn.convolutions.{i}"
        shape = (1, width, options.char_dim, num_filters)
        yield Dataset(f"CNN/W_cnn_{i}", shape, f"{key}.weight", _FILTERS)
        yield Dataset(f"CNN/b_cnn_{i}", (num_filters,), f"{key}.bias")
    for k in range(options.num_highway):
        name, key = f"CNN_high_{k}", f"char_cnn.highways._layers.{k}"
        for part, rows, of_weight, of_bias in (
            ("transform", slice(0, n), _TRANSPOSE, _SAME),
            ("carry", slice(n, None), _NEGATE_TRANSPOSE, _NEGATE),
        ):
            yield Dataset(f"{name}/W_{part}", (n, n), f"{key}.weight", of_weight, ALL, rows)
            yield Dataset(f"{name}/b_{part}", (n,), f"{key}.bias", of_bias, ALL, rows)
    yield Dataset("CNN_proj/W_proj", (n, p), "char_cnn.projection.weight", _TRANSPOSE)
    yield Dataset("CNN_proj/b_proj", (p,), "char_cnn.projection.bias")


def _lstm_datasets(options: BiLmOptions, d: int, layer: int, key: str) -> Iterator[Dataset]:
    p, c = options.projection_dim, options.cell_dim
    name = f"RNN_{d}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
    shape = (2 * p, 4 * c)
    yield Dataset(f"{name}/W_0", shape, f"{key}.input_weight", _LSTM, slice(0, p))
    yield Dataset(f"{name}/W_0", shape, f"{key}.recurrent_weight", _LSTM, slice(p, None))
    yield Dataset(f"{name}/B", (4 * c,), f"{key}.bias", _BIAS)
    yield Dataset(f"{name}/W_P_0", (c, p), f"{key}.projection_weight", _TRANSPOSE)


def _gates(order: tuple[int, ...]) -> Callable[[Array], Array]:
    def reorder(array: Array) -> Array:
        blocks = numpy.split(array, 4)
        return numpy.concatenate([blocks[gate] for gate in order])

    return reorder


# The file's gates are input, candidate, forget, output; ours are input, forget, output, candidate.
_to_our_gates, _to_their_gates = _gates((0, 2, 3, 1)), _gates((0, 3, 1, 2))


def _forget_one(array: Array) -> Array:
    """
    Returns the numbers that TensorFlow adds to the biases at run time: 1 for the forget gate, 0 for
    the other gates.
    """
    bias = numpy.zeros_like(array)
    bias[len(array) // 4 : len(array) // 2] = 1
    return bias


def _convert_bias(array: Array) -> Array:
    array = _to_our_gates(array)
    return array + _forget_one(array)


def _revert_bias(array: Array) -> Array:
    return _to_their_gates(array - _forget_one(array))


_BIAS = Conversion(_convert_bias, _revert_bias)
_LSTM = Conversion(lambda array: _to_our_gates(array.T), lambda array: _to_their_gates(array).T)

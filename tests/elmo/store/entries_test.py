import numpy
import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.store.entries import decode, encode, entry_bytes


def random_layers(length: int = 5) -> torch.Tensor:
    """Returns layers of shape (3, length, 8) whose layer 0 has two equal halves."""
    layers = torch.randn(3, length, 8, generator=torch.Generator().manual_seed(0))
    layers[0, :, 4:] = layers[0, :, :4]
    return layers


@pytest.mark.parametrize(("dtype", "num_bytes"), [("float16", 2), ("float32", 4), ("int8", 1)])
def test_an_entry_has_one_half_of_layer_0_and_the_other_layers_whole(
    dtype: str, num_bytes: int
) -> None:
    # A scale for each of the 5 halves of each of the 5 tokens.
    scales = 5 * 5 * 4 if dtype == "int8" else 0

    assert len(encode(random_layers(), dtype)) == 5 * (4 + 8 + 8) * num_bytes + scales
    assert entry_bytes(3, 5, 8, dtype) == 5 * (4 + 8 + 8) * num_bytes + scales
    assert entry_bytes(3, 0, 8, dtype) == 0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_layers_come_back_rounded_to_the_dtype(dtype: str) -> None:
    layers, decoded = random_layers(), numpy.full((3, 5, 8), numpy.nan, dtype)

    decode(encode(layers, dtype), dtype, decoded)

    numpy.testing.assert_array_equal(decoded, layers.numpy().astype(dtype))


def test_eight_bits_keep_the_largest_value_of_each_half_and_zeros() -> None:
    layers, decoded = random_layers(), numpy.full((3, 5, 8), numpy.nan, numpy.float32)
    layers[:, 2] = 0

    decode(encode(layers, "int8"), "int8", decoded)

    expected = layers.numpy()
    for layer in range(3):
        for token in range(5):
            for half in (slice(0, 4), slice(4, 8)):
                values, rounded = expected[layer, token, half], decoded[layer, token, half]
                largest = numpy.abs(values).max()
                assert numpy.abs(rounded - values).max() <= largest / 254 * 1.001
                assert numpy.abs(rounded).max() == pytest.approx(largest, rel=1e-6)


@pytest.mark.parametrize(
    ("dtype", "value"), [("float16", 1e5), ("float32", numpy.inf), ("int8", numpy.nan)]
)
def test_a_value_that_the_dtype_cannot_hold_is_refused(dtype: str, value: float) -> None:
    layers = random_layers()
    layers[1, 2, 3] = value

    with pytest.raises(ConfigurationError, match=f"a value beyond {dtype}"):
        encode(layers, dtype)

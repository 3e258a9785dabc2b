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


@pytest.mark.parametrize(("dtype", "num_bytes"), [("float16", 2), ("float32", 4)])
def test_an_entry_has_one_half_of_layer_0_and_the_other_layers_whole(
    dtype: str, num_bytes: int
) -> None:
    assert len(encode(random_layers(), dtype)) == 5 * (4 + 8 + 8) * num_bytes
    assert entry_bytes(3, 5, 8, dtype) == 5 * (4 + 8 + 8) * num_bytes
    assert entry_bytes(3, 0, 8, dtype) == 0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_layers_come_back_rounded_to_the_dtype(dtype: str) -> None:
    layers, decoded = random_layers(), numpy.full((3, 5, 8), numpy.nan, dtype)

    decode(encode(layers, dtype), dtype, decoded)

    numpy.testing.assert_array_equal(decoded, layers.numpy().astype(dtype))


@pytest.mark.parametrize(("dtype", "value"), [("float16", 1e5), ("float32", numpy.nan)])
def test_a_value_that_the_dtype_cannot_hold_is_refused(dtype: str, value: float) -> None:
    layers = random_layers()
    layers[1, 2, 3] = value

    with pytest.raises(ConfigurationError, match=f"a value beyond {dtype}"):
        encode(layers, dtype)

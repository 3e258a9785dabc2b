import functools
import logging
import platform

import torch
from torch.nn.functional import linear, pad

logger = logging.getLogger(__name__)

# The values of the setting `dtype` of a biLM, and of training it.
DTYPES = ("auto", "float32", "bfloat16")

# oneDNN lays a weight out for products of this number of rows, about as many as an LSTM step has.
# Products of other numbers of rows work too.
_ROWS = 32

# If the weight has at most this many numbers, `linear` is faster for one row. Larger weights do not
# fit into a CPU's cache.
# oneDNN computes several rows of small weights, too. `linear` is faster for 32,768 numbers or less,
# but MKL may wait for ever in a fork of a process whose threads have used it.
_SMALL_WEIGHT = 1 << 20


class FrozenProduct:
    """
    Computes x W^T + b for a weight that does not change. On a CPU, the weight is copied once into
    oneDNN's memory layout, if that works on this machine. Products are then several times as fast
    as `torch.nn.functional.linear` in float32, with no larger rounding errors.

    # Parameters

    weight: Shape (out_dim, in_dim).
    bias: Shape (out_dim,).
    dtype: The dtype of the factors and of the result, by default the dtype of the weight. On a CPU,
        a product in bfloat16 is summed in float32 and rounded once.
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self._dtype = dtype or weight.dtype
        weight = weight.detach().to(self._dtype)
        self._bias = None if bias is None else bias.detach().to(self._dtype)
        self._by_onednn = weight.device.type == "cpu" and has_onednn(self._dtype)
        self._weight = _onednn_layout(weight) if self._by_onednn else weight
        is_small = weight.dtype == torch.float32 and weight.numel() <= _SMALL_WEIGHT
        self._plain_weight = weight if is_small or not self._by_onednn else None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Maps x of shape (rows, in_dim) and any dtype to shape (rows, out_dim)."""
        x, rows = x.to(self._dtype), len(x)
        if not self._by_onednn or (rows == 1 and self._plain_weight is not None):
            # Under autocast, `linear` chooses the dtype of its result.
            return linear(x, self._plain_weight, self._bias).to(self._dtype)
        return onednn_product(extend_rows(x, padded_rows(rows)), self._weight, self._bias)[:rows]


@functools.cache
def has_onednn(dtype: torch.dtype) -> bool:
    """
    Returns whether oneDNN's products with weights in its own layout work here. If not, logs why.
    """
    if dtype not in (torch.float32, torch.bfloat16) or not torch.backends.mkldnn.is_available():
        return False
    # A separate generator leaves the random numbers of a training run as they are.
    generator = torch.Generator().manual_seed(0)
    x, weight, bias = (
        torch.randn(shape, generator=generator, dtype=dtype) for shape in ((4, 32), (64, 32), (64,))
    )
    try:
        product = onednn_product(x, _onednn_layout(weight), bias)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError) as error:
        logger.info("oneDNN cannot lay weights out here (%s); products are slower.", error)
        return False
    return torch.allclose(product, linear(x, weight, bias), rtol=0.02, atol=0.1)


def onednn_product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Computes x W^T + b by oneDNN. The weight is a tensor, or in oneDNN's own memory layout."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def padded_rows(rows: int) -> int:
    """
    Rounds a number of rows up, because oneDNN compiles and keeps 0.5 MB of code for each number of
    rows. A number above 16 grows by at most an eighth: there are eight sizes from one power of two
    to the next.
    """
    step = 1 << max(0, (rows - 1).bit_length() - 4)
    return -(-rows // step) * step


def extend_rows(x: torch.Tensor, rows: int) -> torch.Tensor:
    """Returns x with further rows, `rows` in all. The new rows may have any values."""
    if rows == len(x):
        return x
    end = x.storage_offset() + rows * x.size(1)
    if x.is_contiguous() and end * x.element_size() <= x.untyped_storage().nbytes():
        # x is the beginning of a larger tensor, so nothing is copied.
        return x.as_strided((rows, x.size(1)), x.stride())
    return pad(x, (0, 0, 0, rows - len(x)))


def _onednn_layout(weight: torch.Tensor) -> torch.Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _ROWS)


def used_dtype(dtype: str, device: torch.device) -> str:
    """
    Returns the dtype of matrix products on a device for a setting `dtype`. `auto` is `bfloat16` on
    a device that has units for it, and `float32` elsewhere.
    """
    if dtype == "auto":
        return "bfloat16" if has_bfloat16(device.type) else "float32"
    return dtype


@functools.cache
def has_bfloat16(device_type: str) -> bool:
    """
    Returns whether a type of device has units for products in bfloat16, and on a CPU also whether
    oneDNN may use them: the variable `ONEDNN_MAX_CPU_ISA` may forbid it.
    """
    if device_type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device_type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    try:
        supported = torch.ops.mkldnn._is_mkldnn_bf16_supported()
        if platform.machine() in ("x86_64", "AMD64"):
            # oneDNN also supports AVX-512 CPUs without these units, but converts to float32 there.
            supported = supported and torch.cpu._is_avx512_bf16_supported()
    except (AttributeError, RuntimeError):
        return False
    return supported

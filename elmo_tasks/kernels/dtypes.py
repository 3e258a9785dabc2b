import functools
import platform

import torch

# The values of the setting `dtype` of a biLM and of its training.
DTYPES = ("auto", "float32", "bfloat16")


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
            # oneDNN also supports an AVX-512 CPU without such units: it converts to float32.
            supported = supported and torch.cpu._is_avx512_bf16_supported()
    except (AttributeError, RuntimeError):
        return False
    return supported

import ctypes
import functools
import logging
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

logger = logging.getLogger(__name__)

_SOURCE = Path(__file__).with_name("kernels.cpp")

# The file for each instruction set that PyTorch uses. The environment variable ATEN_CPU_CAPABILITY
# limits the set.
_FILES = {"AVX2": "kernels.avx2.so", "AVX512": "kernels.avx512.so"}

# A letter for each argument of a C function: n is a number of rows or columns, and f a float. The
# others are tensors: t of the function's dtype, s of float32, l of int64 and b of uint8.
_ARGUMENTS = {
    "step": "nnttsfts",
    "step_gradient": "nntsstsftt",
    "gru_step": "nntttttt",
    "gru_gradient": "nntttttttt",
    "softmax": "nntslsss",
    "log_sum": "nnttt",
    "convolve": "nnnnnlttb",
    "convolve_gradient": "nnnnnltbt",
}
_NUMBERS: dict[str, Any] = {"n": ctypes.c_int64, "f": ctypes.c_float}
_FUNCTIONS = {
    torch.float32: ("float32", tuple(_ARGUMENTS)),
    torch.bfloat16: ("bfloat16", ("step", "step_gradient", "softmax")),
}


@functools.cache
def kernels(device: str, dtype: torch.dtype) -> SimpleNamespace | None:
    """
    Returns the compiled functions of `kernels.cpp` for a type of device and a dtype, or `None` if
    there are none. There are none for a GPU or for float64, with `ELMO_TASKS_NATIVE=0`, or if the
    package was built without a C++ compiler. The caller then uses PyTorch's operators. The
    functions raise `ValueError` if a tensor is not contiguous or has another dtype.
    """
    library = _library() if device == "cpu" and dtype in _FUNCTIONS else None
    if library is None:
        return None
    ending, names = _FUNCTIONS[dtype]
    functions = {
        name: _checked_function(library[f"{name}_{ending}"], name, dtype) for name in names
    }
    return SimpleNamespace(**functions)


def _checked_function(function: Any, name: str, dtype: torch.dtype) -> Callable[..., None]:
    letters = _ARGUMENTS[name]
    function.argtypes = [_NUMBERS.get(letter, ctypes.c_void_p) for letter in letters]
    function.restype = None
    dtypes = {"t": dtype, "s": torch.float32, "l": torch.int64, "b": torch.uint8}
    expected = [dtypes.get(letter) for letter in letters]

    def call(*arguments: Any) -> None:
        function(*map(_c_argument, arguments, expected))

    return call


def _c_argument(argument: Any, dtype: torch.dtype | None) -> Any:
    """Returns the memory address of a tensor. Returns a number or `None` as it is."""
    if dtype is None or argument is None:
        return argument
    if argument.dtype != dtype or not argument.is_contiguous():
        got = f"{argument.dtype} with strides {argument.stride()}"
        raise ValueError(f"expected a contiguous tensor of {dtype}, got {got}")
    return argument.data_ptr()


@functools.cache
def _library() -> ctypes.CDLL | None:
    """Loads the library for this CPU. If that fails, logs why."""
    name = _FILES.get(torch.backends.cpu.get_cpu_capability(), "kernels.plain.so")
    path = Path(__file__).with_name(name)
    if os.environ.get("ELMO_TASKS_NATIVE") == "0":
        why = "ELMO_TASKS_NATIVE is 0"
    elif not path.exists():
        why = f"{path} is missing, because no C++ compiler made it when elmo_tasks was installed"
    elif _SOURCE.exists() and _SOURCE.stat().st_mtime > path.stat().st_mtime:
        # In a checkout, the functions of an old file may have other arguments than the source.
        why = f"{path} is older than {_SOURCE.name}; `make kernels` compiles it again"
    else:
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            why = str(error)
    logger.info("%s: PyTorch's operators are used, which are slower.", why)
    return None

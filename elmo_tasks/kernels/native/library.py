import ctypes
import functools
import hashlib
import logging
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.common.files import atomic_write

logger = logging.getLogger(__name__)

_SOURCE = Path(__file__).with_name("kernels.cpp")
_FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-shared", "-fPIC"]

# The instructions that PyTorch uses on this CPU. ATEN_CPU_CAPABILITY in the environment limits
# them.
_INSTRUCTIONS = {
    "AVX2": ["-mavx2", "-mfma"],
    "AVX512": ["-mavx2", "-mfma"]
    + [f"-mavx512{part}" for part in ("f", "bw", "dq", "vl")]
    + ["-mprefer-vector-width=512"],
}

# The arguments of each function: n is a number of rows or columns, f a float, p a pointer.
_ARGUMENTS = {
    "step": "nnpppfpp",
    "step_gradient": "nnpppppfpp",
    "gru_step": "nnpppppp",
    "gru_gradient": "nnpppppppp",
    "softmax": "nnpppppp",
    "log_sum": "nnppp",
    "convolve": "nnnnnpppp",
    "convolve_gradient": "nnnnnpppp",
}
_TYPES: dict[str, Any] = {"n": ctypes.c_int64, "f": ctypes.c_float, "p": ctypes.c_void_p}

# The ends of the functions' names, by the dtype of the functions.
_NAMES = {torch.float32: "float32", torch.bfloat16: "bfloat16"}


class Kernels:
    """
    Calls the functions of `kernels.cpp` for tensors of one dtype. A tensor must be contiguous.

    # Parameters

    library: The compiled file.
    dtype: float32 or bfloat16.
    """

    def __init__(self, library: ctypes.CDLL, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._functions = {}
        for name, letters in _ARGUMENTS.items():
            if dtype != torch.float32 and name.startswith(("convolve", "gru", "log")):
                continue
            function = library[f"{name}_{_NAMES[dtype]}"]
            function.argtypes = [_TYPES[letter] for letter in letters]
            function.restype = None
            self._functions[name] = function

    def step(
        self,
        gates: torch.Tensor,
        recurrent: torch.Tensor,
        memory: torch.Tensor,
        clip: float,
        hidden: torch.Tensor,
        memories: torch.Tensor | None,
    ) -> None:
        """Does what `lstm_step.step` does."""
        self._functions["step"](
            *memory.shape,
            self._of(gates),
            self._of(recurrent),
            _of(memory, torch.float32),
            clip,
            self._of(hidden),
            None if memories is None else _of(memories, torch.float32),
        )

    def step_gradient(
        self,
        gates: torch.Tensor,
        memories: torch.Tensor,
        before: torch.Tensor,
        grad_hidden: torch.Tensor,
        grad_memory: torch.Tensor,
        clip: float,
        grad_gates: torch.Tensor,
        hidden: torch.Tensor,
    ) -> None:
        """Does what `lstm_step.step_gradient` does."""
        self._functions["step_gradient"](
            *memories.shape,
            self._of(gates),
            _of(memories, torch.float32),
            _of(before, torch.float32),
            self._of(grad_hidden),
            _of(grad_memory, torch.float32),
            clip,
            self._of(grad_gates),
            self._of(hidden),
        )

    def gru_step(self, *tensors: torch.Tensor) -> None:
        """Does what `gru_step.gru_step` does, with its arguments."""
        self._functions["gru_step"](*tensors[-1].shape, *map(self._of, tensors))

    def gru_gradient(self, *tensors: torch.Tensor) -> None:
        """Does what `gru_step.gru_gradient` does, with its arguments."""
        self._functions["gru_gradient"](*tensors[1].shape, *map(self._of, tensors))

    def softmax(
        self,
        logits: torch.Tensor,
        bias: torch.Tensor,
        drawn: torch.Tensor,
        targets: torch.Tensor,
        losses: torch.Tensor,
        scales: torch.Tensor,
    ) -> None:
        """Does what `sampled_loss._softmax` does, in place."""
        self._functions["softmax"](
            *logits.shape,
            self._of(logits),
            _of(bias, torch.float32),
            _of(drawn, torch.int64),
            _of(targets, torch.float32),
            _of(losses, torch.float32),
            _of(scales, torch.float32),
        )

    def log_sum(self, logits: torch.Tensor, largest: torch.Tensor, sums: torch.Tensor) -> None:
        """Does what `BlockedProduct.log_sums` does for a block of classes, in place."""
        self._functions["log_sum"](*logits.shape, *map(self._of, (logits, largest, sums)))

    def convolve(
        self,
        char_ids: torch.Tensor,
        table: torch.Tensor,
        largest: torch.Tensor,
        first: torch.Tensor,
    ) -> None:
        """
        Computes the maxima that `lookup_convolution` returns, and for each maximum the index of the
        first window that has it.
        """
        self._functions["convolve"](
            *char_ids.shape,
            *table.shape[2:0:-1],
            largest.size(1),
            _of(char_ids, torch.int64),
            self._of(table),
            self._of(largest),
            _of(first, torch.uint8),
        )

    def convolve_gradient(
        self,
        char_ids: torch.Tensor,
        grad: torch.Tensor,
        first: torch.Tensor,
        grad_table: torch.Tensor,
    ) -> None:
        """Computes the gradient of the table of `lookup_convolution`."""
        self._functions["convolve_gradient"](
            *char_ids.shape,
            *grad_table.shape[2:0:-1],
            grad.size(1),
            _of(char_ids, torch.int64),
            self._of(grad),
            _of(first, torch.uint8),
            self._of(grad_table),
        )

    def _of(self, tensor: torch.Tensor) -> int:
        return _of(tensor, self._dtype)


@functools.cache
def kernels(device: str, dtype: torch.dtype) -> Kernels | None:
    """
    Returns the compiled functions for tensors of this type of device and this dtype, or `None` if
    there are none: on a GPU, in float64, with `ELMO_TASKS_NATIVE=0`, or without a compiler.
    """
    if device != "cpu" or dtype not in _NAMES:
        return None
    library = _library()
    return None if library is None else Kernels(library, dtype)


def _of(tensor: torch.Tensor, dtype: torch.dtype) -> int:
    if tensor.dtype != dtype or not tensor.is_contiguous():
        raise ValueError(f"expected a contiguous tensor of {dtype}, got one of {tensor.dtype}")
    return tensor.data_ptr()


@functools.cache
def _library() -> ctypes.CDLL | None:
    """Compiles and loads `kernels.cpp`. If that fails, logs why."""
    if os.environ.get("ELMO_TASKS_NATIVE") == "0":
        logger.info("ELMO_TASKS_NATIVE is 0: PyTorch's operators are used, which are slower.")
        return None
    if not hasattr(os, "getuid"):
        logger.info("On this system PyTorch's operators are used, which are slower.")
        return None
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        logger.info("There is no C++ compiler: PyTorch's operators are used, which are slower.")
        return None
    try:
        return _load(compiler)
    # `Path.home` raises a RuntimeError if the user has no home.
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or error
        logger.info(
            "%s cannot be compiled and loaded: PyTorch's operators are used, which are slower. %s",
            _SOURCE.name,
            output,
        )
        return None


def _load(compiler: str) -> ctypes.CDLL:
    compiled = _compiled(compiler)
    try:
        return ctypes.CDLL(str(compiled))
    except OSError:
        # The file may be broken, for example after a power failure, so it is compiled again.
        compiled.unlink(missing_ok=True)
        return ctypes.CDLL(str(_compiled(compiler)))


def _compiled(compiler: str) -> Path:
    """Returns the path of the compiled file, which is kept for later processes."""
    flags = _FLAGS + _INSTRUCTIONS.get(torch.backends.cpu.get_cpu_capability(), [])
    version = _run([compiler, "--version"])
    parts = [_SOURCE.read_text(encoding="utf-8"), version, compiler, *flags]
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    folder = _own_folder()
    target = folder / f"kernels-{name}.so"
    if not target.exists():
        with atomic_write(target) as aside:
            _run([compiler, *flags, "-o", str(aside), str(_SOURCE)])
    return target


def _run(command: list[str]) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return done.stdout


def _own_folder() -> Path:
    """
    Returns the folder of compiled files. Only the user must be able to write there, because loading
    a library runs its code.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "elmo_tasks" / "native"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"other users can write to {folder}")
    if os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0):
        raise PermissionError(f"no file in {folder} can be run: its file system forbids it")
    return folder

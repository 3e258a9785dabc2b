import random
from typing import Any

import numpy
import torch

RandomState = dict[str, Any]


def get_random_state() -> RandomState:
    """
    Returns the state of the random generators of Python, NumPy and PyTorch, and of each GPU that
    this process uses. The state has only numbers, strings and tensors, so that `torch.load` reads
    it with `weights_only`.
    """
    kind, keys, *rest = numpy.random.get_state(legacy=True)
    state = {
        "python": random.getstate(),
        "numpy": (kind, numpy.asarray(keys).tolist(), *rest),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_random_state(state: RandomState) -> None:
    """
    Sets the generators to a state from `get_random_state`. The generators of GPUs are set only if
    there are as many GPUs as when the state was taken.
    """
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    if len(state.get("cuda", [])) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state.get("cuda", []))

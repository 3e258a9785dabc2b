from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class LargestTensor(TorchDispatchMode):
    """Notes the size of the largest tensor that is made while it is active, in numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        made = function(*args, **(kwargs or {}))
        # A weight that oneDNN has laid out has no storage that can be asked for its size.
        if isinstance(made, torch.Tensor) and made.layout == torch.strided:
            size = made.untyped_storage().size() // made.element_size()
            self.size = max(self.size, size)
        return made

from typing import Any

import numpy
import torch


class OnnxGraph:
    """
    Holds a computation in the text format of ONNX: a line for each operator, and the tensors and
    numbers that the lines name.
    """

    def __init__(self) -> None:
        self.lines = ""
        self.tensors: dict[str, numpy.ndarray] = {}

    def add(self, lines: str, **values: Any) -> None:
        """Adds lines, and the tensors and numbers that they name."""
        self.lines += lines
        for name, value in values.items():
            tensor = torch.as_tensor(value).detach().cpu()
            tensor = tensor.float() if tensor.is_floating_point() else tensor
            self.tensors[name] = tensor.contiguous().numpy()

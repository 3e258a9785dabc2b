import warnings
from typing import Any, NamedTuple

import numpy
import ray
import torch

from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.common.threads import one_thread
from elmo_tasks.elmo.sentence_layers import SentenceLayers


class SharedBiLm(NamedTuple):
    """
    Holds a frozen biLM as NumPy arrays. Ray keeps such arrays once for all processes of a machine,
    in its object store, but would copy tensors for each process.

    # Parameters

    settings: The arguments of `FrozenBiLm`.
    arrays: The state dict.
    """

    settings: dict[str, Any]
    arrays: dict[str, numpy.ndarray]

    @classmethod
    def of(cls, bilm: FrozenBiLm) -> "SharedBiLm":
        """Takes the weights of a biLM that is on the CPU, and leaves its store out."""
        settings = {
            "options": bilm.raw_options,
            "state": bilm.state_name,
            "dtype": bilm.asked_dtype,
        }
        arrays = {name: tensor.detach().numpy() for name, tensor in bilm.state_dict().items()}
        return cls(settings, arrays)

    @property
    def num_bytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    def open(self, device: str) -> FrozenBiLm:
        """
        Opens the biLM. On a CPU, the biLM shares memory with `arrays`: do not write to its weights.
        """
        bilm = FrozenBiLm(**self.settings)
        with warnings.catch_warnings():
            # PyTorch warns that the arrays of an object store cannot be written to.
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            tensors = {name: torch.from_numpy(array) for name, array in self.arrays.items()}
        bilm.load_state_dict(tensors, assign=True)
        return bilm.requires_grad_(False).to(device).eval()


class SharedLayers(NamedTuple):
    """
    Opens the `SentenceLayers` of a shared biLM in a process of Ray. They run on the GPU of the
    process or, without a GPU, on the CPU with one thread.

    # Parameters

    shared_bilm (`ray.ObjectRef`): A `SharedBiLm` in the object store.
    batch_tokens: As for `SentenceLayers`.
    """

    shared_bilm: Any
    batch_tokens: int

    def open(self) -> SentenceLayers:
        """Returns the `SentenceLayers`."""
        has_gpu = bool(ray.get_gpu_ids())
        if not has_gpu:
            # Ray assigns one CPU to each process.
            one_thread()
        bilm = ray.get(self.shared_bilm).open("cuda" if has_gpu else "cpu")
        return SentenceLayers(bilm, self.batch_tokens)

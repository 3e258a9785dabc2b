import hashlib
from collections.abc import Mapping

import torch

from elmo_tasks.bilm.products import Derived

FINGERPRINT_BYTES = 16


class Fingerprint:
    """
    Tells weights from others: the same for the same weights in every process and on every device.
    Each tensor is read once, and again only after it has changed.
    """

    def __init__(self) -> None:
        self._digests: dict[str, Derived[bytes]] = {}

    def of(self, tensors: Mapping[str, torch.Tensor], settings: str) -> bytes:
        """
        # Parameters

        tensors : `Mapping[str, torch.Tensor]`
            By name.
        settings : `str`
            What else the result hangs on.

        # Returns

        `bytes`
            16 of them.
        """
        digest = hashlib.blake2b(settings.encode(), digest_size=FINGERPRINT_BYTES)
        for name in sorted(tensors):
            derived = self._digests.setdefault(name, Derived(_digest))
            digest.update(name.encode() + derived.of(tensors[name]))
        return digest.digest()


def _digest(tensor: torch.Tensor) -> bytes:
    content = tensor.detach().cpu().contiguous()
    about = f"{tuple(content.shape)} {content.dtype}".encode()
    numbers = content.flatten().view(torch.uint8).numpy()
    return hashlib.blake2b(numbers, digest_size=FINGERPRINT_BYTES).digest() + about

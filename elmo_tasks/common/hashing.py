import hashlib

import torch

HASH_BYTES = 16


def hash_bytes(content: bytes | memoryview) -> bytes:
    """A hash of 128 bits, the same in every process."""
    return hashlib.blake2b(content, digest_size=HASH_BYTES).digest()


def hash_tensors(*tensors: torch.Tensor) -> bytes:
    """Of their shapes, dtypes and numbers, wherever they lie."""
    hashes = []
    for tensor in tensors:
        content = tensor.detach().cpu().contiguous()
        numbers = content.flatten().view(torch.uint8).numpy()
        hashes.append(f"{tuple(content.shape)} {content.dtype}".encode() + hash_bytes(numbers.data))
    return hash_bytes(b"".join(hashes))

import torch

from elmo_tasks.common.hashing import HASH_BYTES, hash_bytes, hash_tensors


def test_a_hash_is_of_16_bytes_and_follows_from_the_content() -> None:
    assert len(hash_bytes(b"")) == HASH_BYTES == 16
    assert hash_bytes(b"boat") == hash_bytes(memoryview(b"boat")) != hash_bytes(b"bank")


def test_tensors_with_other_numbers_shapes_dtypes_or_order_have_other_hashes() -> None:
    x = torch.arange(6, dtype=torch.float32)
    y = torch.ones(2)
    variants = [(x, y), (x + 1, y), (x.reshape(2, 3), y), (x.double(), y), (y, x), (x,), ()]

    hashes = [hash_tensors(*tensors) for tensors in variants]

    assert len(set(hashes)) == len(variants)


def test_equal_tensors_have_the_same_hash_however_they_lie_in_memory() -> None:
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    transposed = x.t().contiguous().t()
    assert not transposed.is_contiguous()

    assert hash_tensors(transposed) == hash_tensors(x) == hash_tensors(x.clone().requires_grad_())

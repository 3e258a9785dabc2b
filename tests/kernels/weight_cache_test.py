import copy
import pickle

import torch

from elmo_tasks.kernels.frozen_product import FrozenProduct
from elmo_tasks.kernels.weight_cache import WeightCache


def test_the_value_is_computed_again_for_other_weights_or_settings_only() -> None:
    made = []

    def make(weight: torch.Tensor, factor: int) -> int:
        made.append(factor)
        return len(made)

    cache, weight = WeightCache(make), torch.ones(3)

    assert [cache.get(weight, factor=2), cache.get(weight, factor=2)] == [1, 1]
    assert cache.get(weight, factor=3) == 2

    weight += 1
    assert cache.get(weight, factor=3) == 3

    weight.data += 1
    assert cache.get(weight, factor=3) == 4

    assert cache.get(weight.clone(), factor=3) == 5


def test_the_value_is_neither_copied_nor_saved() -> None:
    cache, weight = WeightCache(FrozenProduct), torch.ones(2, 2)
    cache.get(weight)

    for other in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
        assert other._kept is None
        assert torch.equal(other.get(weight)(weight), cache.get(weight)(weight))

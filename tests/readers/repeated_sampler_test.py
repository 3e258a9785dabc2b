from collections import Counter

import pytest
from allennlp.common import Params
from allennlp.data import BatchSampler, Instance, Token
from allennlp.data.fields import TextField

INSTANCES = [Instance({"text": TextField([Token("word")] * length)}) for length in range(1, 24)]


@pytest.mark.parametrize("times", [1, 3])
def test_every_pass_has_every_instance_in_an_order_of_its_own(times: int) -> None:
    inner = {"type": "bucket", "batch_size": 5, "sorting_keys": ["text"], "padding_noise": 0.9}
    params = Params({"type": "elmo_repeated", "times": times, "sampler": inner})
    sampler = BatchSampler.from_params(params)

    batches = [tuple(batch) for batch in sampler.get_batch_indices(INSTANCES)]

    assert len(batches) == sampler.get_num_batches(INSTANCES) == 5 * times
    passes = [batches[start : start + 5] for start in range(0, len(batches), 5)]
    for batches_of_pass in passes:
        assert Counter(sum(batches_of_pass, ())) == Counter(range(23))
    assert len(set(map(tuple, passes))) == times
    assert sampler.get_batch_size() == 5

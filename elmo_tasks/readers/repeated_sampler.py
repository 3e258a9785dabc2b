from collections.abc import Iterable, Sequence

from allennlp.data import BatchSampler, Instance


@BatchSampler.register("elmo_repeated")
class RepeatedSampler(BatchSampler):
    """
    Goes through the data several times in each epoch, each time in a new order from another
    sampler. Otherwise, with little training data, AllenNLP would validate after every few updates.

    Registered as a `BatchSampler` with name "elmo_repeated".

    # Parameters

    sampler: The other sampler.
    times: Number of passes through the data in each epoch.
    """

    def __init__(self, sampler: BatchSampler, times: int) -> None:
        self.sampler = sampler
        self.times = times

    def get_batch_indices(self, instances: Sequence[Instance]) -> Iterable[list[int]]:
        for _ in range(self.times):
            yield from self.sampler.get_batch_indices(instances)

    def get_num_batches(self, instances: Sequence[Instance]) -> int:
        return self.times * self.sampler.get_num_batches(instances)

    def get_batch_size(self) -> int | None:
        return self.sampler.get_batch_size()

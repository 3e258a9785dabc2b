import os
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from allennlp.data import BatchSampler, DatasetReader, Instance

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.text_reader import passed_through

T = TypeVar("T")


@DatasetReader.register("elmo_fraction")
class FractionReader(DatasetReader):
    """
    Reads a random fraction of another reader's data, for training with less data as in Figure 1 of
    Peters et al. 2018. The data keep their order. The same seed always chooses the same data, and a
    larger fraction contains a smaller one.

    The fraction applies to the items that the other reader passes to `shard_iterable`, such as the
    trees of SST with all their phrases.

    Registered as a `DatasetReader` with name "elmo_fraction".

    # Parameters

    reader: The other reader. Its `max_instances` limits the items to choose from. The
        `max_instances` of the `FractionReader` limits the instances made of the chosen items.
    fraction: A number above 0 and at most 1. The number of chosen items is rounded, and at least 1.
    """

    def __init__(self, reader: DatasetReader, fraction: float, seed: int = 0, **kwargs) -> None:
        super().__init__(**kwargs)
        if not 0 < fraction <= 1:
            raise ConfigurationError(f"fraction must be above 0 and at most 1, not {fraction}")
        self.reader = reader
        self.fraction = fraction
        self.seed = seed

    def _read(self, file_path: str | os.PathLike) -> Iterator[Instance]:
        has_chosen = False

        def choose(everything: Iterable[T]) -> Iterator[T]:
            nonlocal has_chosen
            has_chosen = True
            return self._choose(everything)

        # Every process makes the same choice from all data, and AllenNLP then shards the chosen
        # instances.
        yield from passed_through(choose, self.reader)._read(file_path)
        if not has_chosen:
            raise ConfigurationError(
                "a fraction needs a reader that shards its data by shard_iterable, but "
                f"{type(self.reader).__name__} shards without it"
            )

    def _choose(self, everything: Iterable[T]) -> Iterator[T]:
        items = list(islice(everything, self.reader.max_instances))
        order = list(range(len(items)))
        random.Random(self.seed).shuffle(order)
        num_chosen = max(1, round(self.fraction * len(items)))
        return (items[index] for index in sorted(order[:num_chosen]))

    def text_to_instance(self, *args: Any, **kwargs: Any) -> Instance:
        return self.reader.text_to_instance(*args, **kwargs)

    def apply_token_indexers(self, instance: Instance) -> None:
        self.reader.apply_token_indexers(instance)

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute of the other reader, such as the `tokenizer` for a predictor."""
        # `reader` is not yet set while an object is copied or unpickled.
        if name == "reader" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.reader, name)


@BatchSampler.register("elmo_repeated")
class RepeatedSampler(BatchSampler):
    """
    Goes through the data several times in each epoch, so that AllenNLP does not validate after
    every few updates if there is little training data. Another sampler, `sampler`, gives the data a
    new order each time.

    Registered as a `BatchSampler` with name "elmo_repeated".

    # Parameters

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

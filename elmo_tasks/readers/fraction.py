import os
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from allennlp.data import DatasetReader, Instance

from elmo_tasks.common.errors import ConfigurationError

T = TypeVar("T")


@DatasetReader.register("elmo_fraction")
class FractionReader(DatasetReader):
    """
    Reads a random part of what another reader reads, in the same order; for the curve of Peters et
    al. 2018, Figure 1. The same seed gives the same part, and a smaller part lies in a larger one.

    A part of what: of what the reader deals out to workers by `shard_iterable`, such as the trees
    of SST, each with all its phrases, or the lines of a file, so that nothing is read that is not
    chosen; of the instances, where a reader does not deal out anything.

    Registered as a `DatasetReader` with name "elmo_fraction".

    # Parameters

    reader : `DatasetReader`
        The other reader. Its `max_instances` applies before the choice, to what it deals out; one
        of our own applies after the choice, to the instances.
    fraction : `float`
        Above 0, and 1 at most; rounded to a whole number of what is dealt out, and at least 1.
    seed : `int`, optional (default = `0`)
    """

    def __init__(self, reader: DatasetReader, fraction: float, seed: int = 0, **kwargs) -> None:
        super().__init__(**kwargs)
        if not 0 < fraction <= 1:
            raise ConfigurationError(f"fraction must be above 0 and at most 1, not {fraction}")
        self.reader = reader
        self.fraction = fraction
        self.seed = seed
        self._deals_out = reader.manual_distributed_sharding and reader.manual_multiprocess_sharding

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        if self._deals_out:
            return self._read_chosen(file_path)
        return self._choose(self.reader._read(file_path))

    def _read_chosen(self, file_path: str | os.PathLike) -> Iterator[Instance]:
        self._has_chosen = False
        # Every process chooses from everything, and we deal out the instances.
        setattr(self.reader, "shard_iterable", self._choose)  # noqa: B010  mypy refuses a method
        try:
            yield from self.reader._read(file_path)
        finally:
            del self.reader.shard_iterable
        if not self._has_chosen:
            raise ConfigurationError(
                f"{type(self.reader).__name__} deals out its data without shard_iterable, so that "
                "no fraction of them can be read"
            )

    def _choose(self, everything: Iterable[T]) -> Iterator[T]:
        self._has_chosen = True
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
        """What a predictor asks of the other reader, such as its `tokenizer`."""
        # There is no reader yet while an object is copied or unpickled.
        if name == "reader" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.reader, name)

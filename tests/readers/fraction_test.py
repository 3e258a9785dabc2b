import pickle
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.data import BatchSampler, DatasetReader, Instance, Token
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.fields import MetadataField, TextField

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.fraction import FractionReader
from elmo_tasks.readers.sst import SstReader
from elmo_tasks.readers.text_reader import TextReader

SST = str(Path(__file__).parents[2] / "fixtures" / "sst.txt")


class Numbers(TextReader):
    """Reads twenty instances."""

    def _read(self, file_path: str) -> Iterable[Instance]:
        for number in self.shard_iterable(range(20)):
            yield Instance({"number": MetadataField(number)})


class Undealt(DatasetReader):
    """Leaves the sharding to AllenNLP."""

    def _read(self, file_path: str) -> Iterable[Instance]:
        yield Instance({"number": MetadataField(1)})


def words(instances: Iterable[Instance]) -> list[list[str]]:
    return [instance["metadata"]["tokens"] for instance in instances]


def read(fraction: float, seed: int = 0, **kwargs) -> list[list[str]]:
    return words(FractionReader(SstReader(**kwargs), fraction, seed).read(SST))


def numbers(fraction: float, seed: int = 0, reader: DatasetReader | None = None) -> list[int]:
    instances = FractionReader(reader or Numbers(), fraction, seed).read("")
    return [instance["number"].metadata for instance in instances]


def test_a_fraction_of_sst_is_one_of_trees_with_all_their_phrases() -> None:
    everything = words(SstReader().read(SST))

    chosen = read(0.3)

    assert len(everything) == 10
    assert chosen == [tree for tree in everything if tree in chosen]
    assert len(chosen) == 3

    # No phrase of the file is part of two trees.
    phrases = [
        phrase
        for tree in chosen
        for phrase in words(SstReader(min_phrase_tokens=4).read(SST))
        if " ".join(phrase) in " ".join(tree)
    ]

    assert len(phrases) > len(chosen)
    assert read(0.3, min_phrase_tokens=4) == phrases


def test_a_smaller_part_lies_in_a_larger_one_and_all_of_it_is_the_reader_itself() -> None:
    state = random.getstate()
    parts = [numbers(fraction, seed=3) for fraction in (0.001, 0.1, 0.35, 0.8, 1)]

    assert [len(part) for part in parts] == [1, 2, 7, 16, 20]
    assert random.getstate() == state and numbers(0.35, seed=4) != parts[2]
    for smaller, larger in zip(parts, parts[1:]):
        assert set(smaller) < set(larger)
        assert larger == sorted(larger)
    assert parts[-1] == list(range(20))


def test_the_limit_of_the_other_reader_comes_first_and_our_own_after() -> None:
    assert set(numbers(0.5, reader=Numbers(max_instances=10))) < set(range(10))
    assert len(numbers(0.5, reader=Numbers(max_instances=10))) == 5

    limited = FractionReader(Numbers(), 0.5, max_instances=3)

    assert [instance["number"].metadata for instance in limited.read("")] == numbers(0.5)[:3]


def test_workers_read_the_same_part_together() -> None:
    alone, reader = (FractionReader(SstReader(min_phrase_tokens=4), 0.5, seed=4) for _ in range(2))

    loader = MultiProcessDataLoader(reader, SST, batch_size=1, num_workers=2)

    together, alone = loader.iter_instances(), alone.read(SST)

    assert sorted(map(str, together)) == sorted(map(str, alone))


def test_a_reader_that_deals_out_in_a_way_of_its_own_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="but Undealt shards without it"):
        numbers(0.5, reader=Undealt())


def test_several_reads_may_take_turns() -> None:
    sst = SstReader()
    reader = FractionReader(sst, 0.5, seed=4)
    expected = words(reader.read(SST))
    first = iter(reader.read(SST))

    begin = [next(first)]
    inner = words(reader.read(SST))

    assert inner == expected
    assert words(begin) + words(first) == expected
    assert len(words(sst.read(SST))) == 10


def test_everything_else_is_that_of_the_other_reader() -> None:
    given = FractionReader(SstReader(), 0.5)

    for reader in (given, pickle.loads(pickle.dumps(given))):
        assert [token.text for token in reader.tokenizer.tokenize("Done.")] == ["Done", "."]
        instance = reader.text_to_instance([Token("Good")], "positive")
        reader.apply_token_indexers(instance)
        assert list(instance["tokens"].token_indexers) == ["tokens"]
        with pytest.raises(AttributeError, match="no_such_thing"):
            _ = reader.no_such_thing
        assert words(reader.read(SST)) == read(0.5)


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

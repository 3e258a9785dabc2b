from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.samplers import BucketBatchSampler
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_tasks.training.shared_data_loader import SharedDataLoader
from tests.helpers.workers import together


class Words(DatasetReader):
    """Reads an instance for each of so many words."""

    def _read(self, num_words: Any) -> Iterator[Instance]:
        for index in range(int(num_words)):
            yield Instance({"words": TextField([Token(str(index))], {"w": SingleIdTokenIndexer()})})


@pytest.mark.parametrize("batches", [{"batch_size": 4}, {"batch_sampler": BucketBatchSampler(4)}])
def test_processes_with_unequal_shares_make_as_many_batches_and_lose_nothing(
    batches: dict[str, Any], tmp_path: Path
) -> None:
    """9 instances make batches of 4, 4 and 1 in process 0, where process 1 has 8."""

    def work(rank: int) -> None:
        loader = SharedDataLoader(Words(), "17", **batches)
        vocab = Vocabulary(tokens_to_add={"tokens": [str(index) for index in range(17)]})
        loader.index_with(vocab)
        loader.share()
        epochs = [[batch["words"]["w"]["tokens"].flatten() for batch in loader] for _ in range(2)]

        sizes = [sorted(map(len, epoch)) for epoch in epochs]
        assert sizes == 2 * [[1, 4, 4] if rank == 0 else [2, 2, 4]]
        assert len(loader) == 3
        for epoch in epochs:
            words = [int(vocab.get_token_from_index(int(index))) for index in torch.cat(epoch)]
            assert sorted(words) == list(range(rank, 17, 2))

    together(work, tmp_path)


def test_a_process_without_an_instance_for_each_batch_says_so(tmp_path: Path) -> None:
    def work(rank: int) -> None:
        loader = SharedDataLoader(Words(), "1", batch_size=4)
        loader.index_with(Vocabulary())
        loader.share()
        if rank == 0:
            assert len(list(loader)) == 1
            return
        with pytest.raises(ConfigurationError, match="1 has too few instances: .* has 1 batches"):
            list(loader)

    together(work, tmp_path)

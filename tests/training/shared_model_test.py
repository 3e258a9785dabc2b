from pathlib import Path

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.processes import broadcast_file
from elmo_tasks.training.shared_model import ElmoDdpAccelerator, SharedModel
from tests.helpers.workers import together


class Weights(Model):
    def __init__(self, rank: int = 0, words: tuple[str, ...] = ("a", "b")) -> None:
        super().__init__(Vocabulary(tokens_to_add={"tokens": list(words)}))
        self.rows = torch.nn.Parameter(torch.full((5, 2), float(rank)))
        self.dense = torch.nn.Parameter(torch.full((3,), float(rank)))
        self.unused = torch.nn.Parameter(torch.full((2,), float(rank)))


def sparse(rows: list[int], value: float) -> torch.Tensor:
    return torch.sparse_coo_tensor([rows], torch.full((len(rows), 2), value), (5, 2))


def test_gradients_are_means_over_the_processes_and_only_used_rows_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, all_reduce = [], torch.distributed.all_reduce

    def count(tensor: torch.Tensor, *args: object, **kwargs: object) -> object:
        sent.append((tuple(tensor.shape), tensor.dtype))
        return all_reduce(tensor, *args, **kwargs)

    def work(rank: int) -> None:
        model = Weights()
        # Row 3 comes twice in process 0, and process 2 has no gradient of rows.
        grads = [sparse([3, 0, 3], 1.0), sparse([3, 2], 6.0), None]
        model.rows.grad = grads[rank]
        model.dense.grad = None if rank == 1 else torch.full((3,), 3.0 * (rank + 1))

        SharedModel(model).average_gradients()

        expected = torch.tensor([[1.0, 1], [0, 0], [6, 6], [8, 8], [0, 0]]) / 3
        torch.testing.assert_close(model.rows.grad.to_dense(), expected)
        assert model.rows.grad.is_sparse and model.rows.grad.is_coalesced()
        assert model.rows.grad.indices().tolist() == [[0, 2, 3]]
        torch.testing.assert_close(model.dense.grad, torch.full((3,), 4.0))
        assert model.unused.grad is None
        wide = sorted(shape for shape, dtype in sent if dtype == torch.float32)
        assert wide == [(3,), (3, 2)]

    monkeypatch.setattr(torch.distributed, "all_reduce", count)
    together(work, tmp_path, 3)


def test_every_process_starts_with_the_weights_of_the_first(tmp_path: Path) -> None:
    def work(rank: int) -> None:
        model, shared = ElmoDdpAccelerator(rank, 2).wrap_model(Weights(rank))

        assert model is shared.model
        assert not any(weight.any() for weight in model.parameters())

    together(work, tmp_path)


def test_processes_with_other_words_are_refused_and_named(tmp_path: Path) -> None:
    def work(rank: int) -> None:
        words = ("a", "c") if rank == 1 else ("a", "b")
        with pytest.raises(ConfigurationError, match="processes 1 have other words or weights"):
            ElmoDdpAccelerator(rank, 3).wrap_model(Weights(0, words))

    together(work, tmp_path, 3)


def test_a_file_of_the_first_process_reaches_the_others(tmp_path: Path) -> None:
    content = bytes(range(256)) * 3 + b"end"
    (tmp_path / "file").write_bytes(content)

    def work(rank: int) -> None:
        file = broadcast_file(tmp_path / "file" if rank == 0 else None)

        assert file is not None and file.read() == content
        assert broadcast_file(None) is None

    together(work, tmp_path)

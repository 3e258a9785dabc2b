"""Extends AllenNLP for training runs in several processes, on one or more machines."""

import os
import shutil
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.common.util import is_distributed
from allennlp.data import Instance, TensorDict, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.models import Model
from allennlp.nn.parallel import DdpAccelerator, DdpWrappedModel
from allennlp.nn.util import dist_reduce, dist_reduce_sum
from allennlp.nn.util import move_to_device as to_device
from allennlp.training.util import make_vocab_from_params
from torch import distributed

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.processes import broadcast, device_of_group, rank
from elmo_tasks.common.progress import working


def prepare_processes(params: Params, serialization_dir: str | os.PathLike, recover: bool) -> None:
    """
    Prepares a training run whose config has the key `distributed`. The processes of a recovered
    training run read the vocabulary from its folder. Before the first checkpoint, the vocabulary
    may be incomplete, so it is made anew.

    # Raises

    `ConfigurationError`: The config has `evaluate_on_test`; AllenNLP would then evaluate on only a
        share of the test data. Or it has several nodes, but no `primary_port`; each node would then
        choose another port and wait in vain.
    """
    nodes = params.params.get("distributed")
    if nodes is None:
        return
    if nodes.get("num_nodes", 1) > 1 and "primary_port" not in nodes:
        raise ConfigurationError("distributed needs primary_port: a free port of the first node")
    if params.params.get("evaluate_on_test"):
        raise ConfigurationError(
            "evaluate_on_test needs a single process: remove it, and test the archive with "
            "`elmo-tasks evaluate`"
        )
    folder = Path(serialization_dir)
    if recover and folder.exists() and not any(folder.glob("training_state_*.th")):
        shutil.rmtree(folder / "vocabulary", ignore_errors=True)
        make_vocab_from_params(params.duplicate(), folder)


class SharedDataLoader(MultiProcessDataLoader):
    """
    AllenNLP's `multiprocess` data loader, with an equal number of batches in all processes. In
    distributed training, AllenNLP ends an epoch as soon as one process has no more batches, and
    drops the remaining batches of the other processes. So `share` lets a process with fewer batches
    halve its largest batches, if all instances are in memory.
    """

    collate_fn: Any
    _num_batches: int | None = None

    def share(self) -> None:
        """Makes the same number of batches in every process. All processes must call this."""
        if is_distributed() and self.max_instances_in_memory is None:
            self._num_batches = dist_reduce(super().__len__(), distributed.ReduceOp.MAX)

    def index_with(self, vocab: Vocabulary) -> None:
        with working("indexing the words"):
            super().index_with(vocab)

    def __len__(self) -> int:
        return super().__len__() if self._num_batches is None else self._num_batches

    def _instances_to_batches(
        self, instance_iterator: Iterable[Instance], move_to_device: bool
    ) -> Iterator[TensorDict]:
        if self._num_batches is None:
            yield from super()._instances_to_batches(instance_iterator, move_to_device)
            return
        collate, self.collate_fn = self.collate_fn, list
        try:
            batches = list(super()._instances_to_batches(instance_iterator, False))
        finally:
            self.collate_fn = collate
        num_batches = dist_reduce(len(batches), distributed.ReduceOp.MAX)
        for batch in _halve_largest(batches, num_batches, self.data_path):
            tensors = collate(batch)
            yield tensors if self.cuda_device is None else to_device(tensors, self.cuda_device)


def _halve_largest(
    batches: list[list[Instance]], num_batches: int, path: Any
) -> list[list[Instance]]:
    """
    Halves the largest batches, in place, until there are `num_batches` batches, and returns the
    batches.
    """
    while len(batches) < num_batches:
        index = max(range(len(batches)), key=lambda index: len(batches[index]), default=None)
        if index is None or len(batches[index]) == 1:
            raise ConfigurationError(
                f"{path} has too few instances: another process has {num_batches} batches, but "
                f"this process has only {sum(map(len, batches))} instances; use larger batches or "
                "fewer processes"
            )
        half = len(batches[index]) // 2
        batches[index : index + 1] = [batches[index][:half], batches[index][half:]]
    return batches


@DdpAccelerator.register("elmo")
class ElmoDdpAccelerator(DdpAccelerator):
    """
    Lets several processes train one model, each on its share of a batch. It differs from PyTorch's
    `DistributedDataParallel` in three points. Of a sparse gradient, such as the sampled softmax's,
    it sends only the rows that are used. A batch may leave weights unused. And gradients are sent
    once for each step. The trainer `elmo` uses this accelerator unless the config names another in
    `distributed`.

    Registered as a `DdpAccelerator` with name "elmo". It has the parameters of `DdpAccelerator`.
    """

    def wrap_model(self, model: Model) -> tuple[Model, "SharedModel"]:
        """
        Moves the model to this process's device, and copies the weights of process 0. Raises
        `ConfigurationError` if the processes differ in vocabulary or shapes of weights.
        """
        model = model.to(self.cuda_device)
        _check_alike(model)
        broadcast(weight for weight in model.parameters() if weight.requires_grad)
        return model, SharedModel(model, self.local_rank, self.world_size)


class SharedModel(DdpWrappedModel):
    """Wraps a model. Before each step, the trainer calls `average_gradients`."""

    def average_gradients(self) -> None:
        """
        Replaces each gradient by its mean over all processes. If a process does not have a
        gradient, it counts as zero. A gradient that no process has stays `None`.
        """
        weights = [weight for weight in self.model.parameters() if weight.requires_grad]
        # 0 stands for no gradient, 1 for a dense and 2 for a sparse one.
        kinds = torch.tensor(
            [0 if w.grad is None else 1 + w.grad.is_sparse for w in weights],
            device=device_of_group(),
        )
        distributed.all_reduce(kinds, distributed.ReduceOp.MAX)
        pending = []
        for weight, kind in zip(weights, kinds.tolist()):
            if kind == 2:
                weight.grad = _mean_of_rows(weight)
            elif kind == 1:
                grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
                weight.grad = grad.contiguous().div_(distributed.get_world_size())
                pending.append(distributed.all_reduce(weight.grad, async_op=True))
        for work in pending:
            work.wait()


def share_loss(model: Model, batch: dict[str, Any], outputs: dict[str, Any]) -> None:
    """
    Scales the loss in `outputs`, in place, so that its mean over the processes equals the loss of
    all their batches together. The penalty `reg_loss` is not scaled. The loss of a model with
    `loss_is_sum` is a sum over instances. Any other loss is a mean: over tokens if the outputs have
    `num_tokens`, otherwise over instances. `num_tokens` becomes the number of tokens in all
    processes.
    """
    if getattr(model, "loss_is_sum", False):
        scale = float(rank().num_processes)
    else:
        num_own = int(outputs["num_tokens"]) if "num_tokens" in outputs else num_instances(batch)
        num_all = dist_reduce_sum(num_own)
        scale = rank().num_processes * num_own / max(num_all, 1)
        if "num_tokens" in outputs:
            outputs["num_tokens"] = torch.tensor(num_all)
    penalty = outputs.get("reg_loss", 0.0)
    outputs["loss"] = scale * (outputs["loss"] - penalty) + penalty


def num_instances(batch: Any) -> int:
    """Returns the number of instances in a batch: the first dimension of its first tensor."""
    if isinstance(batch, torch.Tensor):
        return len(batch)
    values = batch.values() if isinstance(batch, dict) else ()
    return next(filter(None, map(num_instances, values)), 0)


def _mean_of_rows(weight: torch.Tensor) -> torch.Tensor:
    """Averages a sparse gradient over all processes. Rows that a process lacks count as zero."""
    grad = None if weight.grad is None else weight.grad.coalesce()
    is_used = torch.zeros(len(weight), dtype=torch.uint8, device=weight.device)
    if grad is not None:
        is_used[grad.indices()[0]] = 1
    distributed.all_reduce(is_used, distributed.ReduceOp.MAX)
    rows = is_used.nonzero().squeeze(1)
    # Shape: (rows, ...), with the same rows in every process.
    values = weight.new_zeros(len(rows), *weight.shape[1:])
    if grad is not None:
        values[torch.searchsorted(rows, grad.indices()[0])] = grad.values()
    distributed.all_reduce(values.div_(distributed.get_world_size()))
    return torch.sparse_coo_tensor(
        rows.unsqueeze(0), values, weight.shape, check_invariants=False, is_coalesced=True
    )


def _check_alike(model: Model) -> None:
    words = [
        model.vocab.get_index_to_token_vocabulary(namespace)
        for namespace in sorted(model.vocab.get_namespaces())
    ]
    shapes = [(name, tuple(weight.shape)) for name, weight in model.named_parameters()]
    mine = sha256(repr((words, shapes)).encode()).hexdigest()
    everyone = [mine] * distributed.get_world_size()
    distributed.all_gather_object(everyone, mine)
    ranks = [rank for rank, hash_of in enumerate(everyone) if hash_of != everyone[0]]
    if ranks:
        raise ConfigurationError(
            f"the processes {', '.join(map(str, ranks))} have another vocabulary or other "
            "shapes of weights than process 0: every node needs the same config and the same "
            "text"
        )

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy
import torch
from allennlp.common.util import is_distributed
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum
from allennlp.training import GradientDescentTrainer, TrainerCallback
from allennlp.training.metrics import Metric
from allennlp.training.util import get_metrics

from elmo_tasks.bilm.state import CarryState, LstmState


class Recovery(TrainerCallback):
    """
    Adds to each checkpoint what AllenNLP's checkpoints lack: the random state, the losses and
    metrics of the unfinished epoch, the metrics of the last epoch, the state that a biLM carries
    from batch to batch, and the scale of gradients in mixed precision. So a recovered training run
    ends with the same weights and metrics, to the bit, as an uninterrupted training run. With
    another number of processes, dropout differs, and the metrics of the unfinished epoch count only
    its remaining batches.

    Only `ElmoTrainer` uses this callback, after all others.
    """

    def __init__(self, trainer: GradientDescentTrainer) -> None:
        super().__init__(trainer._serialization_dir)
        self._trainer = trainer
        self._epoch_start = get_random_state()
        self._loss = self._reg_loss = 0.0
        # The metrics of the last epoch that ended.
        self.metrics: dict[str, Any] = {}
        self._by_rank: list[dict[str, Any]] | None = None
        self._loaded_state: dict[str, Any] | None = None

    def gather(self) -> None:
        """Collects the states of all processes of a training run, before one process saves them."""
        state = self._state()
        self._by_rank = [state]
        if is_distributed():
            self._by_rank = [{} for _ in range(torch.distributed.get_world_size())]
            torch.distributed.all_gather_object(self._by_rank, state)

    def state_dict(self) -> dict[str, Any]:
        return {"elmo_recovery": self._by_rank}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        by_rank = state_dict.get("elmo_recovery")
        if by_rank is not None and len(by_rank) == self._trainer._world_size:
            self._loaded_state = by_rank[torch.distributed.get_rank() if is_distributed() else 0]
            self.metrics = self._loaded_state["metrics"]

    @contextmanager
    def epoch(self, epoch: int) -> Iterator[bool]:
        """
        Prepares an epoch, and yields whether a recovered training run continues this epoch. If it
        does, the state in the checkpoint is restored after the trainer has skipped the finished
        batches.
        """
        trainer = self._trainer
        loader = trainer.data_loader
        self._loss = self._reg_loss = 0.0
        resumes = self._loaded_state is not None and epoch == trainer._start_after_epochs_completed
        if self._loaded_state is not None and resumes:
            set_random_state(self._loaded_state["epoch_start"])
            num_updates = trainer._start_after_batches_in_epoch_completed
            num_batches = num_updates * trainer._num_gradient_accumulation_steps
            trainer.data_loader = ResumedLoader(loader, num_batches, self._restore)
        self._epoch_start = get_random_state()
        try:
            yield resumes
        finally:
            trainer.data_loader = loader

    def on_batch(self, trainer: Any, *args: Any, is_training: bool, **kwargs: Any) -> None:
        if not is_training:
            return
        _, batch_outputs, batch_metrics, _, batch_number = args
        # As in AllenNLP's trainer, the same numbers are added in the same order.
        self._loss += batch_metrics["batch_loss"]
        batch_metrics["loss"] = self._loss / batch_number
        for outputs in batch_outputs:
            if "reg_loss" in outputs:
                self._reg_loss += (outputs["reg_loss"] / len(batch_outputs)).item()
                batch_metrics["reg_loss"] = self._reg_loss / batch_number

    def on_epoch(self, trainer: Any, metrics: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        self.metrics = dict(metrics)

    def epoch_metrics(self, metrics: dict[str, float]) -> dict[str, float]:
        """
        Completes the training metrics of a continued epoch. AllenNLP leaves out the losses of
        batches before the interruption, and leaves out all metrics if no batch was left.
        """
        model, num_batches = self._trainer.model, self._trainer._batches_in_epoch_completed
        has_penalty = model.get_regularization_penalty() is not None
        loss, reg_loss = map(dist_reduce_sum, (self._loss, self._reg_loss))
        num_batches = dist_reduce_sum(num_batches)
        whole = get_metrics(
            model, loss, reg_loss if has_penalty else None, None, None, num_batches, reset=True
        )
        if "loss" in metrics:
            whole = {name: whole[name] for name in whole if name in ("loss", "reg_loss")}
        return {**metrics, **whole}

    def _state(self) -> dict[str, Any]:
        trainer = self._trainer
        now = get_random_state()
        state = {"random": now, "metrics": self.metrics}
        if trainer._scaler is not None:
            state["scaler"] = trainer._scaler.state_dict()
        if trainer._batches_in_epoch_completed == 0:
            return {**state, "epoch_start": now}
        return {
            **state,
            "epoch_start": self._epoch_start,
            "loss": self._loss,
            "reg_loss": self._reg_loss,
            "model_metrics": get_metric_states(trainer.model),
            "carried": {
                name: [part.cpu() for part in module._last or ()]
                for name, module in self._carry_states()
            },
        }

    def _restore(self) -> None:
        state, trainer = self._loaded_state, self._trainer
        assert state is not None
        set_random_state(state["random"])
        if trainer._scaler is not None and "scaler" in state:
            trainer._scaler.load_state_dict(state["scaler"])
        if "loss" in state:
            self._loss, self._reg_loss = state["loss"], state["reg_loss"]
            set_metric_states(trainer.model, state["model_metrics"])
            for name, module in self._carry_states():
                carried = state["carried"][name]
                module._last = LstmState(*carried) if carried else None

    def _carry_states(self) -> Iterator[tuple[str, CarryState]]:
        for name, module in self._trainer.model.named_modules():
            if isinstance(module, CarryState):
                yield name, module


class ResumedLoader:
    """
    Yields the batches of a data loader, and calls `restore` after the first `num_done` batches.
    """

    def __init__(self, loader: Any, num_done: int, restore: Any) -> None:
        self._loader, self._num_done, self._restore = loader, num_done, restore

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        batches = iter(self._loader)
        yield from islice(batches, self._num_done)
        self._restore()
        yield from batches


def get_random_state() -> dict[str, Any]:
    """
    Returns the state of all random generators, in types that `torch.load` reads with
    `weights_only`.
    """
    kind, keys, *fields = numpy.random.get_state(legacy=True)
    state = {
        "python": random.getstate(),
        "numpy": (kind, numpy.asarray(keys).tolist(), *fields),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_random_state(state: dict[str, Any]) -> None:
    """
    Sets all random generators. Sets the GPUs' generators only if there are as many GPUs as before.
    """
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    if len(state.get("cuda", [])) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state.get("cuda", []))


def get_metric_states(model: Model) -> dict[str, dict[str, Any]]:
    """
    Returns, for each metric of a model, its attributes that are numbers, strings, tensors or
    containers of these. They hold the counts so far. Counts in attributes of other types are lost
    in a recovered training run.
    """
    return {
        name: {key: _copy(value) for key, value in vars(metric).items() if _is_plain(value)}
        for name, metric in _metrics(model)
    }


def set_metric_states(model: Model, states: dict[str, dict[str, Any]]) -> None:
    device = next(model.parameters()).device
    for name, metric in _metrics(model):
        for key, (value, on_model_device) in states.get(name, {}).items():
            present = getattr(metric, key)
            if isinstance(present, dict):
                # The dictionary keeps its class, such as `defaultdict`.
                present.clear()
                present.update(value)
            else:
                setattr(metric, key, value.to(device) if on_model_device else value)


def _metrics(model: Model) -> Iterator[tuple[str, Metric]]:
    """Yields the metrics of all modules, including metrics in lists and dictionaries."""
    for prefix, module in model.named_modules():
        yield from _metrics_in(prefix, vars(module))


def _metrics_in(name: str, value: Any) -> Iterator[tuple[str, Metric]]:
    if isinstance(value, Metric):
        yield name, value
        value = vars(value)
    if isinstance(value, dict | list | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _metrics_in(f"{name}.{key}", item)


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_plain, [*value.keys(), *value.values()]))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | torch.Tensor)


def _copy(value: Any) -> tuple[Any, bool]:
    """Returns a copy, and whether the value is a tensor that was not on the CPU."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone(), value.device.type != "cpu"
    return dict(value) if isinstance(value, dict) else value, False

import functools
import logging
from collections.abc import Iterator
from typing import Any

import torch
from allennlp.models import Model
from allennlp.training.metrics import Metric

logger = logging.getLogger(__name__)


def get_metric_states(model: Model) -> dict[str, dict[str, Any]]:
    """
    Returns, for each metric of a model, the attributes in which it has counted so far: numbers,
    strings or tensors, or containers of these. Skips functions and sets, which are settings, and
    inner metrics, which have names of their own. Warns about other attributes.
    """
    states: dict[str, dict[str, Any]] = {}
    for name, metric in _metrics(model):
        state = states[name] = {}
        for key, value in vars(metric).items():
            if _is_plain(value):
                state[key] = _copy(value)
            elif not (
                callable(value)
                or isinstance(value, set | frozenset)
                or any(_metrics_in(key, value))
            ):
                _warn(type(metric).__name__, key, type(value).__name__)
    return states


@functools.cache
def _warn(metric: str, attribute: str, kind: str) -> None:
    logger.warning(
        "A checkpoint lacks the attribute %s of the metric %s, because its type is %s, not a "
        "number or a tensor. If the metric counts in it, a training that is recovered in the "
        "middle of an epoch reports this metric only for the rest of the epoch.",
        attribute,
        metric,
        kind,
    )


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
        for key, value in vars(module).items():
            yield from _metrics_in(f"{prefix}.{key}", value)


def _metrics_in(name: str, value: Any) -> Iterator[tuple[str, Metric]]:
    if isinstance(value, Metric):
        yield name, value
        yield from _metrics_in(name, vars(value))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _metrics_in(f"{name}.{index}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
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

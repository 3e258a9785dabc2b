from typing import Any

import torch
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum

from elmo_tasks.common.processes import rank


def share_loss(model: Model, batch: dict[str, Any], outputs: dict[str, Any]) -> None:
    """
    Scales the loss of this process's batch in place. The mean over the processes then equals the
    loss that one process would have for all their batches together. A penalty on the weights,
    `reg_loss`, is not scaled.

    If the outputs of a model have `num_tokens`, its loss is the mean over this many tokens.
    Otherwise the loss is the mean over the instances, or their sum if the model has `loss_is_sum`.
    In the outputs, `num_tokens` becomes the number of tokens of all processes.
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

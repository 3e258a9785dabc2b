"""The steps of pre-training that `benchmarks.gpu` measures."""

from collections.abc import Callable

import torch

from benchmarks.made_up_text import NUM_WORDS
from benchmarks.sizes import make_options
from elmo_tasks.bilm import make_bilm
from elmo_tasks.language_model.prediction import predict
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax


def trainer(
    size: str,
    in_bfloat16: bool,
    batches: list[tuple[torch.Tensor, torch.Tensor]],
    num_samples: int,
) -> Callable[[], None]:
    """Returns a function that makes a step for each batch: char ids and word ids."""
    device = batches[0][0].device
    bilm = make_bilm(make_options(size), requires_grad=True, dropout=0.1).to(device)
    softmax = SampledSoftmax(NUM_WORDS, bilm.options.projection_dim, num_samples)
    softmax.to(device)
    weights = [*bilm.parameters(), *softmax.parameters()]
    optimizer = torch.optim.Adagrad(weights, lr=0.2, initial_accumulator_value=0.0025)

    def train() -> None:
        for char_ids, words in batches:
            optimizer.zero_grad()
            with torch.autocast(bilm.like.device.type, torch.bfloat16, enabled=in_bfloat16):
                losses = [
                    softmax(output, words.flatten()[targets]).mean()
                    for output, targets in predict(bilm, char_ids)
                ]
            (sum(losses) / 2).backward()
            torch.nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()

    return train

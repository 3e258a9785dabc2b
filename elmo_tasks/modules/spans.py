from typing import NamedTuple

import torch
from allennlp.nn.util import min_value_of_dtype
from torch.nn.functional import pad


class BestSpans(NamedTuple):
    """
    The most probable spans of each passage of a batch, the most probable first: the indices of the
    first and the last token, shape (batch, num_best, 2), and the probabilities. If a passage has
    fewer spans, the last ones end in padding, with probability 0.
    """

    spans: torch.Tensor
    probabilities: torch.Tensor


def best_spans(
    start_logits: torch.Tensor,
    end_logits: torch.Tensor,
    mask: torch.Tensor,
    max_tokens: int,
    num_best: int = 1,
) -> BestSpans:
    """
    Finds the most probable spans. A span's probability is that of its start times that of its end.

    # Parameters

    start_logits, end_logits, mask: Shape (batch, length); the logits are finite.
    max_tokens: The number of tokens in the longest span: 0 <= end - start < max_tokens.
    num_best (default `1`): The number of spans to return for each passage; fewer if the padded
        length allows no more.
    """
    starts, ends = start_logits.log_softmax(dim=-1), end_logits.log_softmax(dim=-1)
    width = min(max_tokens, mask.size(1))
    # Shape: (batch, length, width), the ends at each distance from a start
    ends_from = pad(ends, (0, width - 1)).unfold(1, width, 1)
    is_inside = pad(mask, (0, width - 1)).unfold(1, width, 1)
    scores = (starts.unsqueeze(-1) + ends_from).masked_fill(
        ~is_inside, min_value_of_dtype(starts.dtype)
    )
    scores, indices = scores.flatten(1).topk(min(num_best, scores[0].numel()), dim=-1)
    start = indices.div(width, rounding_mode="floor")
    return BestSpans(torch.stack([start, start + indices % width], dim=-1), scores.exp())

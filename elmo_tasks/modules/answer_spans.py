import torch
from allennlp.nn.util import min_value_of_dtype
from torch.nn.functional import pad


def best_spans(
    start_logits: torch.Tensor,
    end_logits: torch.Tensor,
    windows: torch.Tensor,
    max_tokens: int,
    num_best: int = 1,
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Finds the most probable spans of passages. A span lies within one window. Its probability is the
    probability of its start times that of its end. Both are softmaxes over all windows of the
    passage together, so spans rank by the sums of their logits (Clark and Gardner 2017, section 4).

    # Parameters

    start_logits, end_logits: Shape (batch, length); the logits are finite.
    windows: Shape (batch, length): for each token the number of its window, from 1 on, and 0 at
        padding and at tokens that are not read; or a mask, if a passage is one window.
    max_tokens: The number of tokens in the longest span: 0 <= end - start < max_tokens.
    num_best: The most spans to return for each passage. A batch of short passages has fewer.

    # Returns

    The indices of the first and the last token of each span, shape (batch, num_best, 2), the most
    probable first, and the probabilities. If a passage has fewer spans, the last ones end in
    padding, with probability 0.
    """
    starts, ends = start_logits.log_softmax(dim=-1), end_logits.log_softmax(dim=-1)
    width = min(max_tokens, windows.size(1))
    numbers = windows.long()
    # Shape: (batch, length, width), the ends at 0 to width - 1 tokens from each start
    ends_from = pad(ends, (0, width - 1)).unfold(1, width, 1)
    windows_from = pad(numbers, (0, width - 1)).unfold(1, width, 1)
    is_inside = (windows_from == numbers.unsqueeze(-1)) & (windows_from > 0)
    scores = (starts.unsqueeze(-1) + ends_from).masked_fill(
        ~is_inside, min_value_of_dtype(starts.dtype)
    )
    scores, indices = scores.flatten(1).topk(min(num_best, scores[0].numel()), dim=-1)
    start = indices.div(width, rounding_mode="floor")
    return torch.stack([start, start + indices % width], dim=-1), scores.exp()


def distinct_spans(
    start_logits: torch.Tensor,
    end_logits: torch.Tensor,
    windows: torch.Tensor,
    max_tokens: int,
    num_best: int = 1,
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Finds the most probable spans of one passage that do not overlap. Of two spans that overlap, the
    more probable one is returned. Parameters and result are those of `best_spans`, for a batch of
    1.
    """
    # A span overlaps at most this many others.
    overlapping = max_tokens * (2 * max_tokens - 1)
    spans, probabilities = best_spans(
        start_logits, end_logits, windows, max_tokens, num_best * overlapping
    )
    numbers = [*windows[0].tolist(), *[0] * max_tokens]
    is_free = [number > 0 for number in numbers]
    indices: list[int] = []
    for index, (first, last) in enumerate(spans[0].tolist()):
        # If the passage has fewer spans, the last ones are in no window.
        if numbers[first] == numbers[last] and all(is_free[first : last + 1]):
            is_free[first : last + 1] = [False] * (last + 1 - first)
            indices.append(index)
        if len(indices) == num_best:
            break
    return spans[:, indices], probabilities[:, indices]

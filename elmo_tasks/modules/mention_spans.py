from collections.abc import Sequence

import torch


def candidate_spans(lengths: Sequence[int], max_width: int) -> torch.Tensor:
    """
    Returns the spans of a document that lie within a sentence and have at most `max_width` words.

    # Parameters

    lengths: The number of words of each sentence.

    # Returns

    `torch.LongTensor`: Shape (spans, 2): the first and the last word of each span, sorted.
    """
    sizes = torch.tensor(lengths)
    # Shape: (words,), for each word the word after its sentence
    stops = sizes.cumsum(0).repeat_interleave(sizes)
    firsts = torch.arange(len(stops)).unsqueeze(1).expand(-1, max_width)
    lasts = firsts + torch.arange(max_width)
    return torch.stack([firsts, lasts], dim=-1)[lasts < stops.unsqueeze(1)]


def choose_spans(spans: torch.Tensor, scores: torch.Tensor, num_spans: int) -> torch.Tensor:
    """
    Chooses the spans with the highest scores, one after the other. Skips a span that crosses a
    chosen span: two spans cross if they share words and neither contains the other.

    # Parameters

    spans (`torch.LongTensor`): Shape (spans, 2): the first and the last word of each span, sorted.
    scores: Shape (spans,).
    num_spans: The most spans to choose.

    # Returns

    `torch.LongTensor`: Shape (chosen,): the indices of the chosen spans, sorted.
    """
    pairs = spans.tolist()
    chosen: list[int] = []
    # For each word, the last word of the longest chosen span that begins there, and the first word
    # of the longest chosen span that ends there.
    lasts: dict[int, int] = {}
    firsts: dict[int, int] = {}
    for index in scores.argsort(descending=True, stable=True).tolist():
        if len(chosen) == num_spans:
            break
        first, last = pairs[index]
        if not any(lasts.get(word, -1) > last for word in range(first + 1, last + 1)) and not any(
            firsts.get(word, first) < first for word in range(first, last)
        ):
            chosen.append(index)
            lasts[first] = max(lasts.get(first, last), last)
            firsts[last] = min(firsts.get(last, first), first)
    return torch.tensor(sorted(chosen))

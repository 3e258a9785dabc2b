from collections.abc import Sequence

import torch
from allennlp.nn.util import masked_softmax
from torch.nn.functional import embedding_bag


def candidate_spans(lengths: Sequence[int], max_width: int) -> torch.Tensor:
    """
    Returns the first and the last word of each span that lies within a sentence and has at most
    `max_width` words: shape (spans, 2), sorted. `lengths` has the number of words of each sentence.
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
    chosen span. Two spans cross if they share words and neither contains the other.

    # Parameters

    spans, scores: Shapes (spans, 2), as `candidate_spans` returns them, and (spans,).
    num_spans: The most spans to choose.

    # Returns

    `torch.LongTensor`: Shape (chosen,): the indices of the chosen spans, sorted.
    """
    pairs = spans.tolist()
    indices: list[int] = []
    # For each word, the last word of the longest chosen span that begins there, and the first word
    # of the longest chosen span that ends there.
    lasts: dict[int, int] = {}
    firsts: dict[int, int] = {}
    for index in scores.argsort(descending=True, stable=True).tolist():
        if len(indices) == num_spans:
            break
        first, last = pairs[index]
        if not any(lasts.get(word, -1) > last for word in range(first + 1, last + 1)) and not any(
            firsts.get(word, first) < first for word in range(first, last)
        ):
            indices.append(index)
            lasts[first] = max(lasts.get(first, last), last)
            firsts[last] = min(firsts.get(last, first), first)
    return torch.tensor(sorted(indices))


class SpanRepresentation(torch.nn.Module):
    """
    Represents spans of words as Lee et al. 2017, section 4, do: g = [h_first; h_last; width; head].
    The head is a weighted sum of the vectors x of the span's words. The weights are a softmax over
    scores of the vectors h.

    # Parameters

    x_dim, h_dim: Widths of a word's vector and of the output of the encoder.
    max_width: The number of words in the longest span.
    width_dim: Width of the embedding of a span's number of words.
    dropout: Applied to the embedding of a span's number of words.
    """

    def __init__(
        self, x_dim: int, h_dim: int, max_width: int, width_dim: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.width_embedding = torch.nn.Embedding(max_width, width_dim)
        # A bias would have no effect: the softmax over the words cancels it.
        self.head_scores = torch.nn.Linear(h_dim, 1, bias=False)
        self.dropout = torch.nn.Dropout(dropout)
        self.max_width = max_width
        self._output_dim = 2 * h_dim + width_dim + x_dim

    def get_output_dim(self) -> int:
        return self._output_dim

    def forward(self, x: torch.Tensor, h: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        """
        Returns shape (spans, output_dim), for x and h of shapes (words, x_dim) and (words, h_dim),
        and spans of shape (spans, 2), as `candidate_spans` returns them.
        """
        first, last = spans.unbind(dim=1)
        offsets = torch.arange(self.max_width, device=spans.device)
        # Shape: (spans, max_width)
        words = first.unsqueeze(1) + offsets
        inside = words <= last.unsqueeze(1)
        words = words.clamp(max=len(x) - 1)
        scores = self.head_scores(h).squeeze(1)[words]
        weights = masked_softmax(scores, inside, memory_efficient=True)
        # Unlike `x[words]`, this makes no tensor of shape (spans, max_width, x_dim).
        heads = embedding_bag(words, x, mode="sum", per_sample_weights=weights.to(x.dtype))
        widths = self.dropout(self.width_embedding(last - first))
        return torch.cat([h[first], h[last], widths, heads], dim=1)

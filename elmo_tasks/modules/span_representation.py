import torch
from allennlp.nn.util import masked_softmax
from torch.nn.functional import embedding_bag


class SpanRepresentation(torch.nn.Module):
    """
    Represents spans of words as Lee et al. 2017, section 4, do: g = [h_first; h_last; width; head].
    The head is a weighted sum of the vectors x of the span's words. The weights are a softmax over
    scores of the vectors h.

    # Parameters

    x_dim, h_dim: Widths of a word's vector and of the output of the encoder.
    max_width: The number of words in the longest span.
    width_dim: Width of the embedding of a span's number of words.
    dropout (default `0.0`): Applied to that embedding.
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
        # Parameters

        x, h: Shapes (words, x_dim) and (words, h_dim).
        spans (`torch.LongTensor`): Shape (spans, 2): the first and the last word of each span.

        # Returns

        Shape (spans, output_dim).
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
        heads = embedding_bag(words, x, mode="sum", per_sample_weights=weights)
        widths = self.dropout(self.width_embedding(last - first))
        return torch.cat([h[first], h[last], widths, heads], dim=1)

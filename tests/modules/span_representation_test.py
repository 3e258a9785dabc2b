import numpy
import torch

from elmo_tasks.modules.mention_spans import candidate_spans
from elmo_tasks.modules.span_representation import SpanRepresentation


def test_span_is_its_ends_its_width_and_the_weighted_sum_of_its_words() -> None:
    torch.manual_seed(0)
    spans = SpanRepresentation(x_dim=5, h_dim=4, max_width=3, width_dim=2).double()
    x, h = torch.randn(7, 5).double(), torch.randn(7, 4).double()
    candidates = candidate_spans([4, 3], 3)

    with torch.no_grad():
        g = spans(x, h, candidates)

    assert g.shape == (len(candidates), spans.get_output_dim())
    scores = (h.numpy() @ spans.head_scores.weight.detach().numpy().T)[:, 0]
    widths = spans.width_embedding.weight.detach().numpy()
    for (first, last), row in zip(candidates.tolist(), g.numpy()):
        weights = numpy.exp(scores[first : last + 1])
        head = (weights / weights.sum()) @ x.numpy()[first : last + 1]
        ends = h[first].numpy(), h[last].numpy()
        expected = numpy.concatenate([*ends, widths[last - first], head])
        numpy.testing.assert_allclose(row, expected, atol=1e-12)


def test_width_is_dropped_in_training_alone() -> None:
    spans = SpanRepresentation(x_dim=2, h_dim=3, max_width=2, width_dim=50, dropout=0.5)
    x, h = torch.randn(1, 2), torch.randn(1, 3)

    g = spans(x, h, torch.zeros(1, 2, dtype=torch.long))
    with torch.no_grad():
        same = spans.eval()(x, h, torch.zeros(1, 2, dtype=torch.long))

    assert 0 < (g[0, 6:56] == 0).sum() < 50
    torch.testing.assert_close(same[0, 6:56], spans.width_embedding.weight[0].detach())

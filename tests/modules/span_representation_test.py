import numpy
import torch
from allennlp.modules.span_extractors import EndpointSpanExtractor, SelfAttentiveSpanExtractor

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


def test_ends_widths_and_heads_are_those_of_allennlp_where_scores_and_words_are_the_same() -> None:
    torch.manual_seed(0)
    spans = SpanRepresentation(x_dim=4, h_dim=4, max_width=3, width_dim=2)
    ends = EndpointSpanExtractor(4, "x,y", num_width_embeddings=3, span_width_embedding_dim=2)
    heads = SelfAttentiveSpanExtractor(4)
    ends._span_width_embedding.weight = spans.width_embedding.weight
    heads._global_attention._module.weight = spans.head_scores.weight
    x = torch.randn(6, 4)
    candidates = candidate_spans([6], 3)

    g = spans(x, x, candidates)

    batch = x.unsqueeze(0), candidates.unsqueeze(0)
    torch.testing.assert_close(g, torch.cat([ends(*batch)[0], heads(*batch)[0]], dim=1))


def test_gradients_are_right() -> None:
    torch.manual_seed(0)
    spans = SpanRepresentation(x_dim=2, h_dim=3, max_width=3, width_dim=2).double()
    x, h = (torch.randn(4, width).double().requires_grad_() for width in (2, 3))

    assert torch.autograd.gradcheck(lambda *both: spans(*both, candidate_spans([4], 3)), (x, h))


def test_width_is_dropped_in_training_alone() -> None:
    spans = SpanRepresentation(x_dim=2, h_dim=3, max_width=2, width_dim=50, dropout=0.5)
    x, h = torch.randn(1, 2), torch.randn(1, 3)

    g = spans(x, h, torch.zeros(1, 2, dtype=torch.long))
    with torch.no_grad():
        same = spans.eval()(x, h, torch.zeros(1, 2, dtype=torch.long))

    assert 0 < (g[0, 6:56] == 0).sum() < 50
    torch.testing.assert_close(same[0, 6:56], spans.width_embedding.weight[0].detach())

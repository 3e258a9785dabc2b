from typing import Any

import numpy
import pytest
import torch
from allennlp.modules import FeedForward

from elmo_tasks.modules.antecedent_scorer import AntecedentScorer, Mentions, PairProducts

SPAN, FEATURE = 5, 3


def scorer(max_antecedents: int = 250, **settings: Any) -> AntecedentScorer:
    torch.manual_seed(0)
    network = FeedForward(3 * (SPAN + FEATURE), 2, [7, 6], torch.nn.ReLU(), **settings)
    return AntecedentScorer(network, SPAN, FEATURE, max_antecedents).double().eval()


def some(num_mentions: int) -> Mentions:
    torch.manual_seed(1)
    return Mentions(
        torch.randn(num_mentions, SPAN).double(),
        torch.randn(num_mentions).double(),
        torch.randint(2, (num_mentions,)),
        torch.randn(FEATURE).double(),
    )


def matrix(scorer: AntecedentScorer, mentions: Mentions) -> numpy.ndarray:
    """Returns s(i, j) of all pairs, with a first column for no antecedent; -inf if impossible."""
    num_mentions = len(mentions.g)
    scores = numpy.full((num_mentions, 1 + num_mentions), -numpy.inf)
    with torch.no_grad():
        for block in scorer(mentions):
            columns = slice(1 + block.columns.start, 1 + block.columns.stop)
            scores[block.rows, 0] = block.scores[:, 0]
            scores[block.rows, columns] = block.scores[:, 1:]
    return numpy.where(scores < -1e300, -numpy.inf, scores)


def by_hand(scorer: AntecedentScorer, mentions: Mentions, i: int, j: int) -> float:
    weights = {name: each.numpy() for name, each in scorer.state_dict().items()}
    g, scores = mentions.g.numpy(), mentions.scores.numpy()
    smallest = [1, 2, 3, 4, 5, 8, 16, 32, 64]
    distance = max(index for index, least in enumerate(smallest) if i - j >= least)
    features = [
        weights["speaker_embedding.weight"][int(mentions.speakers[i] == mentions.speakers[j])],
        mentions.genre.numpy(),
        weights["distance_embedding.weight"][distance],
    ]
    hidden = numpy.concatenate([g[i], g[j], g[i] * g[j], *features])
    for layer in range(2):
        name = f"feedforward._linear_layers.{layer}"
        hidden = weights[f"{name}.weight"] @ hidden + weights[f"{name}.bias"]
        hidden = numpy.maximum(hidden, 0)
    score = weights["pair_scores.weight"] @ hidden + weights["pair_scores.bias"]
    return scores[i] + scores[j] + score.item()


@pytest.mark.parametrize("num_mentions", [1, 2, 16, 70])
@pytest.mark.parametrize("max_antecedents", [1, 20, 250])
def test_scores_are_those_of_the_network_by_hand(num_mentions: int, max_antecedents: int) -> None:
    pairs, mentions = scorer(max_antecedents), some(num_mentions)

    scores = matrix(pairs, mentions)

    assert (scores[:, 0] == 0).all()
    for i in range(num_mentions):
        for j in range(num_mentions):
            expected = -numpy.inf
            if 0 < i - j <= max_antecedents:
                expected = by_hand(pairs, mentions, i, j)
            assert scores[i, 1 + j] == pytest.approx(expected)


def test_products_of_pairs_and_their_gradients_are_those_of_autograd() -> None:
    torch.manual_seed(0)
    a, b, weight = (torch.randn(n, 4).double().requires_grad_() for n in (3, 5, 2))

    products = PairProducts.apply(a, b, weight)

    torch.testing.assert_close(products, torch.einsum("id,jd,od->ijo", a, b, weight))
    assert torch.autograd.gradcheck(PairProducts.apply, (a, b, weight))


def test_dropout_is_on_the_layers_in_training_alone() -> None:
    pairs, mentions = scorer(dropout=0.5), some(20)
    expected = matrix(pairs, mentions)

    again, dropped = matrix(pairs, mentions), matrix(pairs.train(), mentions)

    possible = numpy.isfinite(expected)
    numpy.testing.assert_array_equal(again, expected)
    assert (numpy.isfinite(dropped) == possible).all()
    assert not numpy.allclose(dropped[possible], expected[possible])

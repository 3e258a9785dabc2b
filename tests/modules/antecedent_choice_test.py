import math

import pytest
import torch

from elmo_tasks.modules.antecedent_choice import (
    CorefMention,
    choose_antecedents,
    cluster_labels,
    clusters_of,
)
from elmo_tasks.modules.antecedent_scorer import AntecedentBlock

LEAST = torch.finfo(torch.double).min


def blocks(scores: list[list[float]], size: int) -> list[AntecedentBlock]:
    """Returns blocks of rows; row i has scores of the antecedents 0 to i - 1."""
    full = torch.full((len(scores), len(scores)), LEAST, dtype=torch.double)
    for index, row in enumerate(scores):
        full[index, :index] = torch.tensor(row, dtype=torch.double)
    found = []
    for start in range(0, len(scores), size):
        rows = slice(start, min(start + size, len(scores)))
        part = full[rows, : rows.stop]
        part = torch.cat([part.new_zeros(len(part), 1), part], dim=1)
        found.append(AntecedentBlock(rows, slice(0, rows.stop), part))
    return found


SCORES = [[], [2.0], [-1.0, 0.5], [-3.0, -2.0, -1.0], [0.0, 1.0, 3.0, -1.0]]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_most_probable_antecedents_are_chosen(size: int) -> None:
    choice = choose_antecedents(blocks(SCORES, size), None)

    assert choice.antecedents.tolist() == [-1, 0, 1, -1, 2]
    for row, probability in zip(SCORES, choice.probabilities.tolist()):
        total = 1 + sum(map(math.exp, row))
        assert probability == pytest.approx(max(1, *map(math.exp, [-9, *row])) / total)
    assert choice.loss == 0


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(
    "labels", [[0, 0, 0, 0, 0], [0, -1, 0, 1, 1], [-1, -1, -1, -1, -1], [0, 1, 1, 0, 1]]
)
def test_loss_is_that_of_all_right_antecedents_together(size: int, labels: list[int]) -> None:
    expected = 0.0
    for i, row in enumerate(SCORES):
        right = [j for j in range(i) if labels[j] == labels[i] != -1]
        # If no antecedent is right, the right choice is none, whose score is 0.
        weight = sum(math.exp(row[j]) for j in right) or 1
        expected -= math.log(weight / (1 + sum(map(math.exp, row))))

    loss = choose_antecedents(blocks(SCORES, size), torch.tensor(labels)).loss

    assert loss.item() == pytest.approx(expected)


def test_mentions_that_are_linked_are_a_cluster() -> None:
    spans = [(0, 1), (2, 5), (3, 4), (6, 7), (8, 9), (10, 11)]

    found = clusters_of(spans, [-1, -1, 1, 0, 3, -1], [1, 1, 0.25, 0.5, 0.75, 1])

    assert found == [
        [CorefMention(0, 1), CorefMention(6, 7, 0, 0.5), CorefMention(8, 9, 1, 0.75)],
        [CorefMention(2, 5), CorefMention(3, 4, 0, 0.25)],
    ]


def test_spans_have_the_index_of_their_cluster() -> None:
    clusters = [[(0, 1), (2, 5)], [(3, 4), (2, 5)]]

    assert cluster_labels([[0, 1], [0, 2], [2, 5], [3, 4]], clusters) == [0, -1, 1, 1]

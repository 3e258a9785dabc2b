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

# Row i has the scores of the antecedents 0 to i - 1.
SCORES = [[], [2.0], [-1.0, 0.5], [-3.0, -2.0, -1.0], [0.0, 1.0, 3.0, -1.0]]


def blocks(size: int, most: int) -> list[AntecedentBlock]:
    """Returns blocks of rows; row i has scores of the antecedents i - most to i - 1."""
    full = torch.full((len(SCORES), len(SCORES)), LEAST, dtype=torch.double)
    for index, row in enumerate(SCORES):
        full[index, max(0, index - most) : index] = torch.tensor(row[-most:], dtype=torch.double)
    found = []
    for start in range(0, len(SCORES), size):
        rows = slice(start, min(start + size, len(SCORES)))
        columns = slice(max(0, start - most), rows.stop)
        part = full[rows, columns]
        part = torch.cat([part.new_zeros(len(part), 1), part], dim=1)
        found.append(AntecedentBlock(rows, columns, part))
    return found


# With `most` of 2, the columns of a block begin after the first mention.
block_sizes = pytest.mark.parametrize(("size", "most"), [(1, 5), (2, 5), (5, 5), (1, 2), (2, 2)])


@block_sizes
def test_the_most_probable_antecedents_are_chosen(size: int, most: int) -> None:
    choice = choose_antecedents(blocks(size, most), None)

    assert choice.antecedents.tolist() == [-1, 0, 1, -1, 2]
    for row, probability in zip(SCORES, choice.probabilities.tolist()):
        total = 1 + sum(map(math.exp, row[-most:]))
        assert probability == pytest.approx(max(1, *map(math.exp, [-9, *row])) / total)
    assert choice.loss == 0


@block_sizes
@pytest.mark.parametrize(
    "labels", [[0, 0, 0, 0, 0], [0, -1, 0, 1, 1], [-1, -1, -1, -1, -1], [0, 1, 1, 0, 1]]
)
def test_loss_is_that_of_all_right_antecedents_together(
    size: int, most: int, labels: list[int]
) -> None:
    expected = 0.0
    for i, row in enumerate(SCORES):
        right = [j for j in range(max(0, i - most), i) if labels[j] == labels[i] != -1]
        # If no antecedent is right, the right choice is none, whose score is 0.
        weight = sum(math.exp(row[j]) for j in right) or 1
        expected -= math.log(weight / (1 + sum(map(math.exp, row[-most:]))))

    loss = choose_antecedents(blocks(size, most), torch.tensor(labels)).loss

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

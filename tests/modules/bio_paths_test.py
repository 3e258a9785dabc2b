"""The sequences of BIO tags against all sequences."""

import itertools
import math
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.modules.bio_paths import BioPaths
from elmo_tasks.readers.entities import Entity, read_entities

TAGS = ["I-B", "O", "B-C-A", "B-B", "I-C-A"]


def example(lengths: list[int], seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    return 2 * torch.randn(*mask.shape, len(TAGS), dtype=torch.double), mask


def is_valid(tags: tuple[str, ...]) -> bool:
    return all(
        tag[0] != "I" or before[1:] == tag[1:] for before, tag in itertools.pairwise(("O", *tags))
    )


def all_paths(logits: torch.Tensor) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yields each valid sequence for one sentence without padding, and its score."""
    for tags in itertools.product(TAGS, repeat=len(logits)):
        if is_valid(tags):
            scores = (logits[index, TAGS.index(tag)].item() for index, tag in enumerate(tags))
            yield tags, sum(scores)


@settings(max_examples=10, deadline=None)
@given(lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3), seed=st.integers(0, 2**16))
def test_best_sequence_is_the_best_of_all(lengths: list[int], seed: int) -> None:
    logits, mask = example(lengths, seed)

    best = BioPaths(TAGS, logits, mask).best()

    for row, length in enumerate(lengths):
        expected, _ = max(all_paths(logits[row, :length]), key=lambda path: path[1])
        assert tuple(TAGS[tag] for tag in best[row, :length].tolist()) == expected


@settings(max_examples=5, deadline=None)
@given(lengths=st.lists(st.integers(1, 4), min_size=1, max_size=2), seed=st.integers(0, 2**16))
def test_confidence_is_the_share_of_the_sequences_that_have_the_span(
    lengths: list[int], seed: int
) -> None:
    logits, mask = example(lengths, seed)
    spans = [
        [Entity(role, start, end) for role in ("B", "C-A") for start in range(length)
         for end in range(start + 1, length + 1)]
        for length in lengths
    ]  # fmt: skip

    confidences = BioPaths(TAGS, logits, mask).span_probabilities(spans)

    for row, length in enumerate(lengths):
        weights = {tags: math.exp(score) for tags, score in all_paths(logits[row, :length])}
        for span, confidence in zip(spans[row], confidences[row], strict=True):
            having = sum(w for tags, w in weights.items() if span in read_entities(tags, "BIO"))
            assert confidence == pytest.approx(having / sum(weights.values()))


def test_two_thousand_tokens_keep_their_probabilities() -> None:
    logits, mask = example([2000], 3)

    (confidences,) = BioPaths(TAGS, logits, mask).span_probabilities(
        [[Entity(role, 1999, 2000) for role in ("B", "C-A")]]
    )

    assert all(0 < confidence < 1 for confidence in confidences)

import itertools
import math
from collections.abc import Iterator

import pytest
import torch
from allennlp.modules import ConditionalRandomField
from allennlp.modules.conditional_random_field.conditional_random_field import allowed_transitions

from elmo_tasks.modules.crf_paths import CrfPaths
from elmo_tasks.readers.entities import Entity, TagError, read_entities
from tests.helpers.precision import in_dtype

SCHEMES = {"BIO": ["O", "I-A", "B-A", "B-B", "I-B"], "BIOUL": ["U-A", "O", "B-A", "L-A", "I-A"]}
LENGTHS = [4, 1, 3, 2]


class Example:
    """A CRF and the logits of four sentences, with noise in their padding."""

    def __init__(self, scheme: str, seed: int) -> None:
        torch.manual_seed(seed)
        self.scheme, self.names = scheme, SCHEMES[scheme]
        constraints = allowed_transitions(scheme, dict(enumerate(self.names)))
        self.crf = ConditionalRandomField(len(self.names), constraints, False).double()
        torch.nn.init.normal_(self.crf.transitions, std=2)
        self.logits = 2 * torch.randn(len(LENGTHS), max(LENGTHS), len(self.names)).double()
        self.mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS).unsqueeze(1)
        self.paths = CrfPaths(self.crf, self.logits, self.mask)

    def all_paths(self, row: int) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yields each valid path through a sentence and its score."""
        for tags in itertools.product(range(len(self.names)), repeat=LENGTHS[row]):
            if self.entities(tags) is not None:
                score = sum(self.logits[row, index, tag].item() for index, tag in enumerate(tags))
                pairs = zip(tags, tags[1:])
                yield tags, score + sum(self.crf.transitions[pair].item() for pair in pairs)

    def entities(self, tags: tuple[int, ...]) -> list[Entity] | None:
        try:
            return read_entities([self.names[tag] for tag in tags], self.scheme)
        except TagError:
            return None


def log_sum(scores: list[float]) -> float:
    return math.log(sum(map(math.exp, scores)))


few = pytest.mark.parametrize("seed", range(3))
both = pytest.mark.parametrize("scheme", SCHEMES)


@few
@both
def test_the_best_path_is_that_of_all_paths(scheme: str, seed: int) -> None:
    example = Example(scheme, seed)

    best = example.paths.best().tolist()

    for row, length in enumerate(LENGTHS):
        expected, _ = max(example.all_paths(row), key=lambda path: path[1])
        assert tuple(best[row][:length]) == expected


@few
@both
def test_confidence_is_the_share_of_the_paths_that_have_the_entity(scheme: str, seed: int) -> None:
    example = Example(scheme, seed)
    inside = torch.tensor([name[0] in "IL" for name in example.names])
    # The path is any valid one, not only the best.
    tags, spans = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long), []
    for row, length in enumerate(LENGTHS):
        paths = [path for path, _ in example.all_paths(row) if example.entities(path)]
        chosen = paths[(7 * seed) % len(paths)]
        tags[row, :length] = torch.tensor(chosen)
        spans.append(example.entities(chosen) or [])

    confidences = example.paths.span_probabilities(tags, spans, inside)

    for row, (row_spans, row_confidences) in enumerate(zip(spans, confidences, strict=True)):
        scored = [(example.entities(path) or [], score) for path, score in example.all_paths(row)]
        total = log_sum([score for _, score in scored])
        for span, confidence in zip(row_spans, row_confidences, strict=True):
            having = log_sum([score for entities, score in scored if span in entities])
            assert confidence == pytest.approx(math.exp(having - total))


def test_two_thousand_tokens_keep_their_probabilities() -> None:
    example = Example("BIOUL", 0)
    logits = example.logits[:1, :1].repeat(1, 2000, 1)
    mask = torch.ones(1, 2000, dtype=torch.bool)
    paths = CrfPaths(example.crf, logits, mask)

    tags = paths.best()
    spans = read_entities([example.names[tag] for tag in tags[0].tolist()], "BIOUL")
    inside = torch.tensor([name[0] in "IL" for name in example.names])
    (confidences,) = paths.span_probabilities(tags, [spans], inside)
    # AllenNLP adds in the default dtype.
    with in_dtype(example.crf, torch.double):
        ((theirs, _),) = example.crf.viterbi_tags(logits, mask)

    assert tags[0].tolist() == theirs
    assert len(confidences) > 0 and all(0 < confidence <= 1 for confidence in confidences)

"""The counts of arguments against cases worked by hand, and against a second implementation."""

from collections import Counter

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.training.metrics import Metric, SpanBasedF1Measure
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.models.metrics.spans import Span, SpanF1, SrlMetric
from elmo_tasks.readers.entities import read_entities


def spans(tags: str) -> list[Span]:
    return spans_of(tags.split())


def spans_of(tags: list[str]) -> list[Span]:
    return [(role, start, end) for role, start, end in read_entities(tags)]


def counts(predicted: str, gold: str) -> tuple[int, int, int]:
    """Returns the numbers of right, surplus and missed arguments, from the metric's scores."""
    metric = SrlMetric()
    metric([spans(predicted)], [spans(gold)])
    scores = metric.get_metric()
    num_predicted, num_gold = (metric._predicted.total(), metric._gold.total())
    correct = round(scores["precision-overall"] * num_predicted)
    assert correct == round(scores["recall-overall"] * num_gold)
    return correct, num_predicted - correct, num_gold - correct


# The predicted tags, the right ones, and the numbers of right, surplus and missed arguments.
CASES = [
    # The predicate itself does not count.
    ("B-V O", "B-V O", (0, 0, 0)),
    ("B-A0 B-V B-A1 I-A1", "B-A0 B-V B-A1 I-A1", (2, 0, 0)),
    # Another role, another end, another start.
    ("B-A0 B-V O", "B-A1 B-V O", (0, 1, 1)),
    # The example of allennlp-models, whose test runs the script: precision 1/3 and recall 1/2.
    ("B-A0 B-A1 B-V B-A1 O", "B-A0 I-A0 B-V B-A1 O", (1, 2, 1)),
    # Two arguments of one role are two.
    ("B-A0 B-A0 B-V", "B-A0 I-A0 B-V", (0, 2, 1)),
    # A continued argument is one, and right only as a whole.
    ("B-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 0, 0)),
    ("B-A1 B-V O", "B-A1 B-V B-C-A1", (0, 1, 1)),
    # Adjacent parts of an argument are not the same as one part.
    ("B-A1 B-C-A1 B-V", "B-A1 I-A1 B-V", (0, 1, 1)),
    # A continuation belongs to the last argument of its role.
    ("B-A1 B-A1 B-V B-C-A1", "B-A1 B-A1 B-V B-C-A1", (2, 0, 0)),
    # Without an argument to continue it is one itself.
    ("B-C-A1 B-V O", "B-A1 B-V O", (1, 0, 0)),
    ("B-A0 B-V B-C-A1", "B-A0 B-V B-A1", (2, 0, 0)),
    # A reference is a role of its own, which can be continued.
    ("B-R-A0 B-V B-A0", "B-R-A0 B-V B-A0", (2, 0, 0)),
    ("B-R-A0 O B-C-R-A0 B-V", "B-R-A0 O B-C-R-A0 B-V", (1, 0, 0)),
    # A continued predicate does not count either, nor does its continuation alone.
    ("B-A0 B-V B-A1 B-C-V", "B-A0 B-V B-A1 O", (2, 0, 0)),
    ("B-C-V O", "B-V O", (0, 0, 0)),
]


@pytest.mark.parametrize(("predicted", "gold", "expected"), CASES)
def test_counts_are_those_worked_by_hand(
    predicted: str, gold: str, expected: tuple[int, int, int]
) -> None:
    assert counts(predicted, gold) == expected


# Predicted spans, right spans of which some are within others, and the numbers of right, surplus
# and missed arguments that `srl-eval.pl` printed for them.
NESTED: list[tuple[list[Span], list[Span], tuple[int, int, int]]] = [
    # `(A2(A1*))`: the script keeps the inner one alone.
    ([("A2", 2, 3)], [("A2", 2, 3), ("A1", 2, 3)], (0, 1, 1)),
    ([("A1", 2, 3)], [("A2", 2, 3), ("A1", 2, 3)], (1, 0, 0)),
    # `(A1(R-A2*) *)`: the outer one is not found without the inner one.
    ([("A1", 0, 2)], [("A1", 0, 2), ("R-A2", 0, 1)], (0, 1, 2)),
    ([("R-A2", 0, 1)], [("A1", 0, 2), ("R-A2", 0, 1)], (1, 0, 1)),
]


@pytest.mark.parametrize(("predicted", "gold", "expected"), NESTED)
def test_arguments_within_others_count_as_in_the_script(
    predicted: list[Span], gold: list[Span], expected: tuple[int, int, int]
) -> None:
    metric = SrlMetric()

    metric([predicted], [gold])

    correct = metric._correct.total()
    surplus, missed = metric._predicted.total() - correct, metric._gold.total() - correct
    assert (correct, surplus, missed) == expected


def test_scores_are_over_all_predicates_and_for_each_role() -> None:
    metric = Metric.by_name("elmo_srl")()
    metric([spans("B-A0 B-V B-A1")], [spans("B-A0 B-V B-A1")])
    metric([spans("B-A0 B-A1 B-V")], [spans("B-A0 I-A0 B-V")])

    scores = metric.get_metric(reset=True)

    # Two of four predicted arguments are right, and two of three are found.
    expected = {"overall": (2 / 4, 2 / 3), "A0": (1 / 2, 1 / 2), "A1": (1 / 2, 1)}
    for name, (precision, recall) in expected.items():
        f1 = 2 * precision * recall / (precision + recall)
        found = [scores[f"{of}-{name}"] for of in ("precision", "recall", "f1-measure")]
        assert found == pytest.approx([precision, recall, f1])
    assert len(scores) == 9
    assert metric.get_metric() == {
        "precision-overall": 0,
        "recall-overall": 0,
        "f1-measure-overall": 0,
    }


ROLES = ["V", "A0", "C-A0", "R-A0", "C-R-A0", "C-V", "A1", "C-A1"]
ANY_TAG = st.one_of(
    st.just("O"), st.builds("{}-{}".format, st.sampled_from("BI"), st.sampled_from(ROLES))
)
TAGS = st.lists(ANY_TAG, min_size=7, max_size=7)


def as_the_script_counts(predicted: list[Span], gold: list[Span]) -> tuple[int, int, int]:
    """
    A second implementation, which gives each token of a sentence the number of its argument and
    looks for arguments that cover the same parts.
    """
    found, right = described(predicted), described(gold)
    both = sum(any(one == other for other in right) for one in found)
    return both, len(found) - both, len(right) - both


def described(of: list[Span]) -> list[list[tuple[int, str, bool]]]:
    """Returns for each argument its tokens, its role, and whether a part begins at the token."""
    numbers: list[tuple[str, list[tuple[int, str, bool]]]] = []
    for role, start, end in of:
        whole = role[2:] if role.startswith("C-") else role
        same = [number for number, (name, _) in enumerate(numbers) if name == whole]
        if role == whole or not same:
            numbers.append((whole, []))
            same = [len(numbers) - 1]
        tokens = [(index, whole, index == start) for index in range(start, end)]
        numbers[same[-1]][1].extend(tokens)
    return [tokens for role, tokens in numbers if role != "V"]


@settings(max_examples=60, deadline=None)
@given(predicted=TAGS, gold=TAGS)
def test_counts_are_those_of_a_second_implementation(predicted: list[str], gold: list[str]) -> None:
    one, other = spans_of(predicted), spans_of(gold)
    metric = SrlMetric()

    metric([one], [other])

    correct, surplus, missed = as_the_script_counts(one, other)
    assert metric._correct.total() == correct
    assert metric._predicted.total() == correct + surplus
    assert metric._gold.total() == correct + missed


def test_counts_of_all_processes_are_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = SrlMetric(), SrlMetric()
    mine([spans("B-A0 B-V"), spans("B-A1 B-V")], [spans("B-A0 B-V"), spans("O B-V")])
    other([spans("B-A0 B-V")], [spans("B-R-A0 B-V")])
    theirs = iter([other._correct, other._predicted, other._gold])

    def gather(every: list[Counter[str]], counts: Counter[str]) -> None:
        every[:] = [counts, next(theirs)]

    monkeypatch.setattr("elmo_tasks.models.metrics.spans.is_distributed", lambda: True)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 2)
    monkeypatch.setattr("torch.distributed.all_gather_object", gather)

    scores = mine.get_metric()

    assert scores["precision-overall"] == pytest.approx(1 / 3)
    assert scores["recall-overall"] == 1 / 2
    assert (scores["precision-A0"], scores["recall-R-A0"]) == (1 / 2, 0)


VOCAB = Vocabulary(tokens_to_add={"labels": ["O", "B-A", "I-A", "B-B"]})


def count(metric: SpanBasedF1Measure, predicted: str, gold: str) -> None:
    """Counts the spans of a sentence, whose tags are given by their ids."""
    tags = [torch.tensor([[int(tag) for tag in ids]]) for ids in (predicted, gold)]
    metric(torch.nn.functional.one_hot(tags[0], 4), tags[1])


def test_spans_of_all_processes_are_scored_as_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, mine, other = (kind(VOCAB, "labels") for kind in (SpanBasedF1Measure, SpanF1, SpanF1))
    for sentence, metric in ((("0120", "0123"), mine), (("3000", "1000"), other)):
        count(metric, *sentence)
        count(expected, *sentence)
    theirs = iter((other._true_positives, other._false_positives, other._false_negatives))

    def gather(every: list[Counter[str]], counts: Counter[str]) -> None:
        every[:] = [counts, Counter(next(theirs))]

    with monkeypatch.context() as patch:
        patch.setattr("elmo_tasks.models.metrics.spans.is_distributed", lambda: True)
        patch.setattr("torch.distributed.get_world_size", lambda: 2)
        patch.setattr("torch.distributed.all_gather_object", gather)
        scores = mine.get_metric(reset=True)

    assert scores == pytest.approx(expected.get_metric())
    assert scores["recall-A"] == pytest.approx(1 / 2) and len(scores) == 9
    assert mine.get_metric()["f1-measure-overall"] == 0


def test_a_single_process_has_the_scores_of_allennlp() -> None:
    expected, metric = SpanBasedF1Measure(VOCAB, "labels"), SpanF1(VOCAB, "labels")

    for each in (expected, metric):
        count(each, "0123", "0120")

    assert metric.get_metric() == expected.get_metric()

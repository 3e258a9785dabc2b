from collections import Counter

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.training.metrics import SpanBasedF1Measure

from elmo_tasks.metrics import span_f1, srl
from elmo_tasks.metrics.span_f1 import SpanF1

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
        for module in (span_f1, srl):
            patch.setattr(module, "is_distributed", lambda: True)
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

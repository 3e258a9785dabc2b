import io
import logging
from typing import Any

import numpy
import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.training.metrics import (
    BLEU,
    Average,
    CategoricalAccuracy,
    Metric,
    PearsonCorrelation,
    SpanBasedF1Measure,
)

from elmo_tasks.metrics.coref import CorefMetric
from elmo_tasks.metrics.span_f1 import SpanF1
from elmo_tasks.metrics.squad import SquadMetric
from elmo_tasks.metrics.srl import SrlMetric
from elmo_tasks.training.epoch_metrics import get_metric_states, set_metric_states

VOCAB = Vocabulary(tokens_to_add={"labels": ["O", "B-PER", "I-PER"]})


class Measured(Model):
    """Has metrics as attributes, in a list and in a dictionary."""

    def __init__(self) -> None:
        super().__init__(VOCAB)
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.accuracy = CategoricalAccuracy()
        self.others: list[Any] = [
            SquadMetric(),
            SpanBasedF1Measure(VOCAB, "labels"),
            SpanF1(VOCAB, "labels"),
            CorefMetric(),
            SrlMetric(),
            PearsonCorrelation(),
        ]
        self.by_name = {"mean": Average()}

    def measure(self, first: int) -> None:
        labels = (torch.arange(first, first + 6) % 3).view(1, 6)
        scores = torch.nn.functional.one_hot((labels + first) % 3, 3).float()
        mask = torch.ones(1, 6, dtype=torch.bool)
        self.accuracy(scores, labels)
        self.others[0](["to be"], [["to be or not"]])
        self.others[1](scores, labels, mask)
        self.others[2](scores, labels, mask)
        self.others[3]([["ab"]], [["abc", "de"][first:]])
        self.others[4]([[("A0", first, 4), ("A1", 5, 6)]], [[("A0", 1, 4), ("A1", 5, 6)]])
        self.others[5](scores[0, :, 0], torch.arange(6.0) ** first)
        self.by_name["mean"](first + 0.1)

    def values(self) -> list[Any]:
        metrics = [self.accuracy, *self.others, *self.by_name.values()]
        return [metric.get_metric(reset=True) for metric in metrics]


def test_metrics_that_go_on_from_a_saved_state_end_with_the_same_values() -> None:
    whole, one, other = Measured(), Measured(), Measured()
    for model, batches in ((whole, (0, 1, 3)), (one, (0, 1))):
        for first in batches:
            model.measure(first)
    file = io.BytesIO()
    torch.save(get_metric_states(one), file)
    file.seek(0)

    set_metric_states(other, torch.load(file, weights_only=True))
    other.measure(3)

    assert other.values() == whole.values()


def test_the_metrics_of_the_models_and_of_allennlp_are_kept_without_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Measured()
    model.by_name["bleu"] = BLEU()
    model.measure(1)

    get_metric_states(model)

    assert not caplog.records


class Counter(Metric):
    def __init__(self) -> None:
        self.counts, self.top_k = numpy.zeros(2), 1


def test_a_count_that_cannot_be_kept_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    model = Measured()
    model.by_name = {"one": Counter()}

    states = [get_metric_states(model) for _ in range(2)]

    assert states[0][".by_name.one"] == {"top_k": (1, False)}
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert (
        "lacks the attribute counts of the metric Counter, because its type is ndarray"
        in caplog.text
    )

import io
from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.training.metrics import Average, CategoricalAccuracy, SpanBasedF1Measure

from elmo_tasks.metrics.squad import SquadMetric
from elmo_tasks.training.epoch_metrics import get_metric_states, set_metric_states

VOCAB = Vocabulary(tokens_to_add={"labels": ["O", "B-PER", "I-PER"]})


class Measured(Model):
    """Has metrics as attributes, in a list and in a dictionary."""

    def __init__(self) -> None:
        super().__init__(VOCAB)
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.accuracy = CategoricalAccuracy()
        self.others: list[Any] = [SquadMetric(), SpanBasedF1Measure(VOCAB, "labels")]
        self.by_name = {"mean": Average()}

    def measure(self, first: int) -> None:
        labels = (torch.arange(first, first + 6) % 3).view(1, 6)
        scores = torch.nn.functional.one_hot((labels + first) % 3, 3).float()
        mask = torch.ones(1, 6, dtype=torch.bool)
        self.accuracy(scores, labels)
        self.others[0](["to be"], [["to be or not"]])
        self.others[1](scores, labels, mask)
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

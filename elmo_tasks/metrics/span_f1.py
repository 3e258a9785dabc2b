from collections import Counter

from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric, SpanBasedF1Measure

from elmo_tasks.metrics.srl import summed_counts


@Metric.register("elmo_span_f1")
class SpanF1(SpanBasedF1Measure):
    """
    AllenNLP's `span_f1`, but it also works with several processes, and counts their spans together.
    AllenNLP's own class refuses several processes.

    Registered as a `Metric` with name "elmo_span_f1". It has the parameters of `span_f1`.
    """

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `precision-TYPE`, `recall-TYPE` and `f1-measure-TYPE` over the spans of all
        processes, for each type that occurred and for `overall`.
        """
        if not is_distributed():
            return super().get_metric(reset)
        counts = [
            summed_counts(Counter(own))
            for own in (self._true_positives, self._false_positives, self._false_negatives)
        ]
        if reset:
            self.reset()
        metrics = {}
        for name in [*sorted(set().union(*counts)), "overall"]:
            of_name = [every.total() if name == "overall" else every[name] for every in counts]
            scores = self._compute_metrics(*of_name)
            for kind, score in zip(("precision", "recall", "f1-measure"), scores):
                metrics[f"{kind}-{name}"] = score
        return metrics

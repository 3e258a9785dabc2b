from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric, SpanBasedF1Measure

# A role and the span `tokens[start:end]`.
Span = tuple[str, int, int]

# A role and its spans: more than one if the argument is continued.
Argument = tuple[str, tuple[tuple[int, int], ...]]

# The role of the predicate itself. A model is given the predicate, so this role does not count.
_PREDICATE = "V"


@Metric.register("elmo_srl")
class SrlMetric(Metric):
    """
    Computes precision, recall and F1 of arguments, from 0 to 1, counted as in `srl-eval.pl`, the
    official script of CoNLL-2005 (Carreras and Màrquez 2005). A predicted argument is right if a
    gold argument of the same predicate has the same role and the same spans. `C-X` continues
    the last argument X before it. If there is no such argument, `C-X` counts as X. `R-X` is a role
    of its own. The role V does not count.

    Registered as a `Metric` with name "elmo_srl".
    """

    def __init__(self) -> None:
        self.reset()

    def __call__(
        self, predictions: Sequence[Sequence[Span]], gold: Sequence[Sequence[Span]]
    ) -> None:
        """
        # Parameters

        predictions, gold: The predicted and the gold spans of each predicate, with roles such as
            `ARG0` and `C-ARG0`. A gold span may be within another one. If several gold spans have
            the same words, the last one counts, and it must be the innermost.
        """
        for predicted, expected in zip(predictions, gold, strict=True):
            answer, facts = set(arguments(predicted)), set(arguments(expected))
            self._predicted.update(role for role, _ in answer)
            self._gold.update(role for role, _ in facts)
            self._correct.update(role for role, _ in answer & facts)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `precision-ROLE`, `recall-ROLE` and `f1-measure-ROLE` over the predicates of all
        processes, for each role that occurred and for `overall`. A score over no arguments is 0.
        """
        correct, predicted, gold = (
            summed_counts(counts) for counts in (self._correct, self._predicted, self._gold)
        )
        if reset:
            self.reset()
        metrics = _scores("overall", correct.total(), predicted.total(), gold.total())
        for role in sorted(predicted.keys() | gold.keys()):
            metrics |= _scores(role, correct[role], predicted[role], gold[role])
        return metrics

    def reset(self) -> None:
        self._correct: Counter[str] = Counter()
        self._predicted: Counter[str] = Counter()
        self._gold: Counter[str] = Counter()


def arguments(spans: Iterable[Span]) -> list[Argument]:
    """
    Returns the arguments of a predicate, with continuations joined and without the role V. The
    parts of an argument include the spans of the arguments inside it. So, as in the script, an
    argument with inner arguments does not equal an argument of the same words without inner
    arguments.
    """
    arguments_of: list[tuple[str, list[tuple[int, int]]]] = []
    last: dict[str, list[tuple[int, int]]] = {}
    # The order of the script: by the first word, and then the longer ones first.
    roles = {(start, -end): role for role, start, end in spans}
    sorted_spans = [(role, start, -minus_end) for (start, minus_end), role in sorted(roles.items())]
    for index, (role, _, end) in enumerate(sorted_spans):
        parts = [(first, stop) for _, first, stop in sorted_spans[index:] if stop <= end]
        name = role.removeprefix("C-")
        if name != role and name in last:
            last[name] += parts
        else:
            last[name] = parts
            arguments_of.append((name, last[name]))
    return [(role, tuple(parts)) for role, parts in arguments_of if role != _PREDICATE]


def _scores(name: str, correct: int, predicted: int, gold: int) -> dict[str, float]:
    precision, recall = correct / max(predicted, 1), correct / max(gold, 1)
    f1 = 2 * correct / max(predicted + gold, 1)
    return {f"precision-{name}": precision, f"recall-{name}": recall, f"f1-measure-{name}": f1}


def summed_counts(counts: Counter[str]) -> Counter[str]:
    """Returns the counts of all processes, added up by role."""
    if not is_distributed():
        return counts
    every: list[Counter[str]] = [Counter()] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(every, counts)
    return sum(every, Counter())


@Metric.register("elmo_span_f1")
class SpanF1(SpanBasedF1Measure):
    """
    Extends AllenNLP's `span_f1`: the spans of several processes are counted together. AllenNLP's
    class refuses several processes.

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
            summed_counts(Counter(counter))
            for counter in (self._true_positives, self._false_positives, self._false_negatives)
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

from collections.abc import Sequence
from typing import Any, NamedTuple

from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.probe import Probe, Row, accuracy
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens
from elmo_tasks.commands.outputs import layer_name, table


class Report(NamedTuple):
    """
    What the layers of a biLM know of some tags.

    # Parameters

    title : `str`
        Of what tags, in which biLM.
    rows : `list[Row]`
        Baselines first.
    counts : `dict[str, int]`
        How much data they are of.
    """

    title: str
    rows: list[Row]
    counts: dict[str, int]

    def text(self) -> str:
        cells = [[row.name, f"{100 * row.accuracy:.2f}"] for row in self.rows]
        lines = [self.title, "", table(["", "accuracy, %"], cells), ""]
        lines += [_mix_text(row.weights) for row in self.rows if row.weights is not None]
        counts = self.counts
        return "\n".join(
            [
                *lines,
                f"{counts['train_tokens']:,} tagged tokens to train on, with {counts['tags']:,} "
                f"tags; {counts['validation_tokens']:,} to validate on, of which "
                f"{counts['unseen_words']:,} are of words, and {counts['unseen_tags']:,} have "
                "tags, that are not in the training data.",
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "rows": [row._asdict() for row in self.rows],
            "counts": self.counts,
        }


def report(title: str, probe: Probe, train: TaggedTokens, validation: TaggedTokens) -> Report:
    """Runs a probe beside the two baselines: the most frequent tag of all, and of each word."""
    most_frequent = MostFrequent(train.keys, train.tags)
    of_all = [most_frequent.of_all] * len(validation.tags)
    of_words = [most_frequent.of(key) for key in validation.keys]
    rows = [
        Row("most frequent tag", accuracy(of_all, validation.tags)),
        Row("most frequent tag of each word", accuracy(of_words, validation.tags)),
        *probe.rows(train, validation),
    ]
    known = set(train.tags)
    counts = {
        "train_tokens": len(train.tags),
        "tags": len(known),
        "validation_tokens": len(validation.tags),
        "unseen_words": sum(key not in most_frequent for key in validation.keys),
        "unseen_tags": sum(tag not in known for tag in validation.tags),
    }
    return Report(title, rows, counts)


def _mix_text(weights: Sequence[float]) -> str:
    parts = ", ".join(f"{weight:.3f} {layer_name(j)}" for j, weight in enumerate(weights))
    return f"Weights of the layers in the mix: {parts}."

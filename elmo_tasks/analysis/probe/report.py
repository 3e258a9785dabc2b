from collections.abc import Sequence
from typing import Any, NamedTuple

from elmo_tasks.analysis.probe.probe import ProbeRow
from elmo_tasks.analysis.tables import layer_name, table


class ProbeReport(NamedTuple):
    """
    What the layers of a biLM know of some tags.

    # Parameters

    title : `str`
        Of what tags, in which biLM.
    rows : `list[ProbeRow]`
        Baselines first.
    counts : `dict[str, int]`
        How much data they are of.
    """

    title: str
    rows: list[ProbeRow]
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


def _mix_text(weights: Sequence[float]) -> str:
    parts = ", ".join(f"{weight:.3f} {layer_name(j)}" for j, weight in enumerate(weights))
    return f"Weights of the layers in the mix: {parts}."

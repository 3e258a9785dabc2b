from collections.abc import Sequence
from typing import Any, NamedTuple

from elmo_tasks.analysis.probe.probe import ProbeRow
from elmo_tasks.analysis.tables import layer_name, table


class ProbeReport(NamedTuple):
    """
    The results of a probe.

    # Parameters

    title: The names of the tag column, the validation data and the biLM.
    rows: The two baselines, then the rows of the probe.
    counts: The numbers of `train_tokens`, of their distinct `tags`, and of `validation_tokens`. Of
        the validation tokens, `unseen_words` have a word, and `unseen_tags` only gold tags, that
        the training data lacks; `backed_off_words` have a word that only the back-off has.
    """

    title: str
    rows: list[ProbeRow]
    counts: dict[str, int]

    def text(self) -> str:
        cells = [[row.name, f"{100 * row.accuracy:.2f}"] for row in self.rows]
        lines = [self.title, "", table(["", "accuracy, %"], cells), ""]
        lines += [_mix_text(row.weights) for row in self.rows if row.weights is not None]
        counts = self.counts
        backed_off = counts["backed_off_words"]
        return "\n".join(
            [
                *lines,
                f"The training data has {counts['train_tokens']:,} tokens with {counts['tags']:,} "
                f"tags. The validation data has {counts['validation_tokens']:,}; the training data "
                f"does not have the words of {counts['unseen_words']:,} and the tags of "
                f"{counts['unseen_tags']:,} of them."
                + (f" The back-off has {backed_off:,} of these words." if backed_off else ""),
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

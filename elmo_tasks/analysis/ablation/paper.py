"""The results of Peters et al. 2018 for the variants of `training_configs`."""

from typing import NamedTuple


class Published(NamedTuple):
    """
    A result of the paper.

    # Parameters

    value: The result in percent.
    split: The data that was evaluated: `dev` or `test`.
    source: The table or figure of the paper.
    std: The standard deviation over five seeds, in percent.
    """

    value: float
    metric: str
    split: str
    source: str
    std: float | None = None

    def __str__(self) -> str:
        std = "" if self.std is None else f" ± {self.std:g}"
        return f"{self.value}{std} ({self.split} {self.metric}, {self.source})"


def published(task: str, variant: str, fraction: float = 1.0) -> Published | None:
    """
    Returns the paper's result for a variant that is trained on a fraction of the training data, or
    `None` if the paper has no such result.
    """
    metric, results = _PUBLISHED.get(task, ("", {}))
    if fraction == 1 and variant in results:
        value, split, source, *std = results[variant]
        return Published(value, metric, split, source, *std)
    if fraction in _FRACTIONS and (values := _FIGURE_1.get((task, variant))):
        return Published(values[_FRACTIONS.index(fraction)], metric, "dev", "Figure 1")
    return None


# For each task its metric, and for each variant the value, the split, the source and the standard
# deviation. The paper's best result of a task is listed for the variant with ELMo in the places of
# the paper's best model. For SNLI and SQuAD, that model's biLM was first trained further on the
# task's text. The variant `paper` has the released biLM, not trained further. With this biLM, the
# paper gives a result for SNLI, but none for SQuAD.
_PUBLISHED: dict[str, tuple[str, dict[str, tuple]]] = {
    "sst": (
        "accuracy",
        {
            "baseline": (51.4, "test", "Table 1"),
            "paper_baseline": (51.4, "test", "Table 1"),
            "both": (54.7, "test", "Table 1", 0.5),
            "paper": (54.7, "test", "Table 1", 0.5),
        },
    ),
    "snli": (
        "accuracy",
        {
            "baseline": (88.1, "dev", "Table 2"),
            "paper_baseline": (88.1, "dev", "Table 2"),
            "last_only": (89.1, "dev", "Table 2"),
            "lambda_1": (89.3, "dev", "Table 2"),
            "input": (88.9, "dev", "Table 3"),
            "output": (88.7, "dev", "Table 3"),
            "both": (89.5, "dev", "Table 3"),
            "paper": (88.9, "dev", "supplement A.1"),
        },
    ),
    "squad": (
        "F1",
        {
            "baseline": (80.8, "dev", "Table 2"),
            "paper_baseline": (80.8, "dev", "Table 2"),
            "last_only": (84.7, "dev", "Table 2"),
            "lambda_1": (85.0, "dev", "Table 2"),
            "lambda_0001": (85.2, "dev", "Table 2"),
            "input": (85.1, "dev", "Table 3"),
            "output": (84.8, "dev", "Table 3"),
            "both": (85.6, "dev", "Table 3"),
        },
    ),
    "srl": (
        "F1",
        {
            "baseline": (81.6, "dev", "Table 2"),
            "last_only": (84.1, "dev", "Table 2"),
            "lambda_1": (84.6, "dev", "Table 2"),
            "input": (84.7, "dev", "Table 3"),
            "output": (80.9, "dev", "Table 3"),
            "both": (84.3, "dev", "Table 3"),
            "paper": (84.7, "dev", "Table 3"),
        },
    ),
    "coref": (
        "F1",
        {
            "baseline": (67.2, "test", "Table 1"),
            "input": (70.4, "test", "Table 1"),
            "paper": (70.4, "test", "Table 1"),
        },
    ),
    "ner": (
        "F1",
        {
            "baseline": (90.15, "test", "Table 1"),
            "paper_baseline": (90.15, "test", "Table 1"),
            "input": (92.22, "test", "Table 1", 0.1),
            "paper": (92.22, "test", "Table 1", 0.1),
        },
    ),
}

# The values for 0.1, 1 and 10 % of the data. They are read from the lines of the figure, and agree
# with its printed gains.
_FIGURE_1 = {
    ("snli", "baseline"): (48.6, 67.1, 83.1),
    ("snli", "both"): (60.9, 74.8, 84.5),
    ("srl", "baseline"): (18.0, 43.8, 65.6),
    ("srl", "input"): (36.5, 64.3, 76.4),
}
_FRACTIONS = (0.001, 0.01, 0.1)

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
    if fraction == 1:
        return _PUBLISHED.get(task, {}).get(variant)
    return _FIGURE_1.get((task, variant, fraction))


def _accuracy(value: float, source: str, split: str = "dev", std: float = None) -> Published:
    return Published(value, "accuracy", split, source, std)


def _f1(value: float, source: str, split: str = "dev", std: float = None) -> Published:
    return Published(value, "F1", split, source, std)


# The paper's best result of a task is listed for the variant with ELMo in the places of the paper's
# best model. For SNLI and SQuAD, that model's biLM was first trained further on the task's text.
# The variant `paper` has the released biLM, not trained further. With this biLM, the paper gives a
# result for SNLI, but none for SQuAD.
_PUBLISHED: dict[str, dict[str, Published]] = {
    "sst": {
        "baseline": _accuracy(51.4, "Table 1", "test"),
        "paper_baseline": _accuracy(51.4, "Table 1", "test"),
        "both": _accuracy(54.7, "Table 1", "test", 0.5),
        "paper": _accuracy(54.7, "Table 1", "test", 0.5),
    },
    "snli": {
        "baseline": _accuracy(88.1, "Table 2"),
        "paper_baseline": _accuracy(88.1, "Table 2"),
        "last_only": _accuracy(89.1, "Table 2"),
        "lambda_1": _accuracy(89.3, "Table 2"),
        "input": _accuracy(88.9, "Table 3"),
        "output": _accuracy(88.7, "Table 3"),
        "both": _accuracy(89.5, "Table 3"),
        "paper": _accuracy(88.9, "supplement A.1"),
    },
    "squad": {
        "baseline": _f1(80.8, "Table 2"),
        "paper_baseline": _f1(80.8, "Table 2"),
        "last_only": _f1(84.7, "Table 2"),
        "lambda_1": _f1(85.0, "Table 2"),
        "lambda_0001": _f1(85.2, "Table 2"),
        "input": _f1(85.1, "Table 3"),
        "output": _f1(84.8, "Table 3"),
        "both": _f1(85.6, "Table 3"),
    },
    "srl": {
        "baseline": _f1(81.6, "Table 2"),
        "last_only": _f1(84.1, "Table 2"),
        "lambda_1": _f1(84.6, "Table 2"),
        "input": _f1(84.7, "Table 3"),
        "output": _f1(80.9, "Table 3"),
        "both": _f1(84.3, "Table 3"),
        "paper": _f1(84.7, "Table 3"),
    },
    "coref": {
        "baseline": _f1(67.2, "Table 1", "test"),
        "input": _f1(70.4, "Table 1", "test"),
        "paper": _f1(70.4, "Table 1", "test"),
    },
    "ner": {
        "baseline": _f1(90.15, "Table 1", "test"),
        "paper_baseline": _f1(90.15, "Table 1", "test"),
        "input": _f1(92.22, "Table 1", "test", 0.1),
        "paper": _f1(92.22, "Table 1", "test", 0.1),
    },
}

# These points are read from the lines of the figure, and agree with its printed gains.
_FIGURE_1: dict[tuple[str, str, float], Published] = {
    (task, variant, fraction): result(value, "Figure 1")
    for task, result, variant, values in (
        ("snli", _accuracy, "baseline", (48.6, 67.1, 83.1)),
        ("snli", _accuracy, "both", (60.9, 74.8, 84.5)),
        ("srl", _f1, "baseline", (18.0, 43.8, 65.6)),
        ("srl", _f1, "input", (36.5, 64.3, 76.4)),
    )
    for fraction, value in zip((0.001, 0.01, 0.1), values)
}

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
        return _PUBLISHED.get((task, variant))
    if fraction in _FRACTIONS and (values := _FIGURE_1.get((task, variant))):
        metric = _PUBLISHED[task, variant].metric
        return Published(values[_FRACTIONS.index(fraction)], metric, "dev", "Figure 1")
    return None


# The paper's best result of a task is listed for the variant with ELMo in the places of the paper's
# best model. For SNLI and SQuAD, that model's biLM was first trained further on the task's text.
# The variant `paper` has the released biLM, not trained further. With this biLM, the paper gives a
# result for SNLI, but none for SQuAD.
_PUBLISHED = {
    ("sst", "baseline"): Published(51.4, "accuracy", "test", "Table 1"),
    ("sst", "paper_baseline"): Published(51.4, "accuracy", "test", "Table 1"),
    ("sst", "both"): Published(54.7, "accuracy", "test", "Table 1", 0.5),
    ("sst", "paper"): Published(54.7, "accuracy", "test", "Table 1", 0.5),
    ("snli", "baseline"): Published(88.1, "accuracy", "dev", "Table 2"),
    ("snli", "paper_baseline"): Published(88.1, "accuracy", "dev", "Table 2"),
    ("snli", "last_only"): Published(89.1, "accuracy", "dev", "Table 2"),
    ("snli", "lambda_1"): Published(89.3, "accuracy", "dev", "Table 2"),
    ("snli", "input"): Published(88.9, "accuracy", "dev", "Table 3"),
    ("snli", "output"): Published(88.7, "accuracy", "dev", "Table 3"),
    ("snli", "both"): Published(89.5, "accuracy", "dev", "Table 3"),
    ("snli", "paper"): Published(88.9, "accuracy", "dev", "supplement A.1"),
    ("squad", "baseline"): Published(80.8, "F1", "dev", "Table 2"),
    ("squad", "paper_baseline"): Published(80.8, "F1", "dev", "Table 2"),
    ("squad", "last_only"): Published(84.7, "F1", "dev", "Table 2"),
    ("squad", "lambda_1"): Published(85.0, "F1", "dev", "Table 2"),
    ("squad", "lambda_0001"): Published(85.2, "F1", "dev", "Table 2"),
    ("squad", "input"): Published(85.1, "F1", "dev", "Table 3"),
    ("squad", "output"): Published(84.8, "F1", "dev", "Table 3"),
    ("squad", "both"): Published(85.6, "F1", "dev", "Table 3"),
    ("srl", "baseline"): Published(81.6, "F1", "dev", "Table 2"),
    ("srl", "last_only"): Published(84.1, "F1", "dev", "Table 2"),
    ("srl", "lambda_1"): Published(84.6, "F1", "dev", "Table 2"),
    ("srl", "input"): Published(84.7, "F1", "dev", "Table 3"),
    ("srl", "output"): Published(80.9, "F1", "dev", "Table 3"),
    ("srl", "both"): Published(84.3, "F1", "dev", "Table 3"),
    ("srl", "paper"): Published(84.7, "F1", "dev", "Table 3"),
    ("coref", "baseline"): Published(67.2, "F1", "test", "Table 1"),
    ("coref", "input"): Published(70.4, "F1", "test", "Table 1"),
    ("coref", "paper"): Published(70.4, "F1", "test", "Table 1"),
    ("ner", "baseline"): Published(90.15, "F1", "test", "Table 1"),
    ("ner", "paper_baseline"): Published(90.15, "F1", "test", "Table 1"),
    ("ner", "input"): Published(92.22, "F1", "test", "Table 1", 0.1),
    ("ner", "paper"): Published(92.22, "F1", "test", "Table 1", 0.1),
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

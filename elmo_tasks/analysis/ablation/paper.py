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
    whole = _PUBLISHED.get((task, variant))
    if fraction == 1 or whole is None:
        return whole
    value = _FIGURE_1.get((task, variant), {}).get(fraction)
    return None if value is None else Published(value, whole.metric, "dev", "Figure 1")


# The paper's best result of a task is listed for the variant with ELMo in the places of the paper's
# best model. For SNLI and SQuAD, that model's biLM was first trained further on the task's text.
# The variant `paper` has the released biLM, not trained further. With this biLM, the paper gives a
# result for SNLI, but none for SQuAD.
_TABLES: list[tuple[str, str, str, str, dict[str, float]]] = [
    ("sst", "accuracy", "test", "Table 1", {"baseline": 51.4, "both": 54.7, "paper": 54.7}),
    ("snli", "accuracy", "dev", "Table 2", {"baseline": 88.1, "last_only": 89.1, "lambda_1": 89.3}),
    ("snli", "accuracy", "dev", "Table 3", {"input": 88.9, "output": 88.7, "both": 89.5}),
    ("snli", "accuracy", "dev", "supplement A.1", {"paper": 88.9}),
    ("squad", "F1", "dev", "Table 2", {"baseline": 80.8, "last_only": 84.7, "lambda_1": 85.0}),
    ("squad", "F1", "dev", "Table 2", {"lambda_0001": 85.2}),
    ("squad", "F1", "dev", "Table 3", {"input": 85.1, "output": 84.8, "both": 85.6}),
    ("srl", "F1", "dev", "Table 2", {"baseline": 81.6, "last_only": 84.1, "lambda_1": 84.6}),
    ("srl", "F1", "dev", "Table 3", {"input": 84.7, "output": 80.9, "both": 84.3, "paper": 84.7}),
    ("coref", "F1", "test", "Table 1", {"baseline": 67.2, "input": 70.4, "paper": 70.4}),
    ("ner", "F1", "test", "Table 1", {"baseline": 90.15, "input": 92.22, "paper": 92.22}),
]
# The tasks whose table has standard deviations, of the models with ELMo.
_STD = {"sst": 0.5, "ner": 0.1}
_PUBLISHED = {
    (task, variant): Published(
        value, metric, split, source, None if variant == "baseline" else _STD.get(task)
    )
    for task, metric, split, source, values in _TABLES
    for variant, value in values.items()
}
for _task in ("sst", "snli", "squad", "ner"):
    _PUBLISHED[_task, "paper_baseline"] = _PUBLISHED[_task, "baseline"]

# Read from the lines of the figure; they agree with its printed gains.
_FIGURE_1 = {
    ("snli", "baseline"): {0.001: 48.6, 0.01: 67.1, 0.1: 83.1},
    ("snli", "both"): {0.001: 60.9, 0.01: 74.8, 0.1: 84.5},
    ("srl", "baseline"): {0.001: 18.0, 0.01: 43.8, 0.1: 65.6},
    ("srl", "input"): {0.001: 36.5, 0.01: 64.3, 0.1: 76.4},
}

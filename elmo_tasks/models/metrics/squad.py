import re
import string
from collections import Counter
from collections.abc import Sequence

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(a|an|the)\b")


@Metric.register("elmo_squad")
class SquadMetric(Metric):
    """
    Computes exact match and F1, from 0 to 1, as SQuAD's official script for version 1.1 does
    (Rajpurkar et al. 2016, section 6.1). The score of a question is its best score with any of its
    answers. The metric is the mean over all questions.

    Registered as a `Metric` with name "elmo_squad".
    """

    def __init__(self) -> None:
        self.reset()

    def __call__(self, predictions: Sequence[str], answers: Sequence[Sequence[str]]) -> None:
        """
        # Parameters

        predictions: A slice of the raw passage for each question, or `""` if nothing is predicted.
        answers: The gold answers of each question, at least one.
        """
        for prediction, texts in zip(predictions, answers, strict=True):
            self._num_questions += 1
            self._em += max(float(exact_match(prediction, text)) for text in texts)
            self._f1 += max(f1(prediction, text) for text in texts)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns `em` and `f1` over the questions of all processes, 0 if there are none."""
        sums = torch.tensor([self._num_questions, self._em, self._f1], dtype=torch.float64)
        num_questions, em, f1 = dist_reduce_sum(sums).tolist()
        if reset:
            self.reset()
        return {"em": em / max(num_questions, 1), "f1": f1 / max(num_questions, 1)}

    def reset(self) -> None:
        self._num_questions = 0
        self._em = self._f1 = 0.0


def exact_match(prediction: str, answer: str) -> bool:
    return normalize(prediction) == normalize(answer)


def f1(prediction: str, answer: str) -> float:
    """
    Returns the F1 of two bags of words. It is 0 if they share no word, even if both are empty.
    """
    predicted, expected = normalize(prediction).split(), normalize(answer).split()
    num_same = sum((Counter(predicted) & Counter(expected)).values())
    if num_same == 0:
        return 0.0
    precision, recall = num_same / len(predicted), num_same / len(expected)
    return 2 * precision * recall / (precision + recall)


def normalize(text: str) -> str:
    """
    Returns the text in lower case, without ASCII punctuation, articles and surplus white space.
    """
    without_punctuation = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", without_punctuation).split())

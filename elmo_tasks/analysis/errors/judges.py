"""Compares the answers of each task's predictor with the data."""

from collections.abc import Callable
from typing import Any, NamedTuple

from allennlp.data import Instance
from allennlp.data.fields import LabelField, TextField

from elmo_tasks.analysis.errors.case import Case, Claim
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.metrics.squad import exact_match, f1
from elmo_tasks.readers.entities import Entity, read_entities
from elmo_tasks.readers.snli import LABELS
from elmo_tasks.readers.sst import CLASSES

Answer = dict[str, Any]


class Judge(NamedTuple):
    """
    Compares answers of a task with the data.

    # Parameters

    kind : `str`
        `classes`, `entities` or `answers`.
    metric : `str`
        The name of the score.
    judge : `Callable[[Instance, Answer], Case]`
        Compares an answer with its instance. The case has no counts of tokens yet.
    classes : `tuple[str | None, ...]`, optional
        The order in which reports show the classes.
    """

    kind: str
    metric: str
    judge: Callable[[Instance, Answer], Case]
    classes: tuple[str | None, ...] = ()


def _judge_class(instance: Instance, answer: Answer) -> Case:
    label = _field(instance, "label")
    assert isinstance(label, LabelField)
    expected, predicted = str(label.label), answer["label"]
    is_right = predicted == expected
    claim = Claim(predicted, expected, answer["probabilities"][predicted], is_right)
    texts = [" ".join(_words(field)) for field in _texts(instance)]
    text = " → ".join(texts)
    return Case(text, 0, 0, float(is_right), 1.0, [claim], [expected], [predicted])


def _judge_entities(instance: Instance, answer: Answer) -> Case:
    words = answer["tokens"]
    tags = _field(instance, "tags")
    expected = read_entities(tags.labels, tags.scheme)
    predicted = [Entity(each["type"], *each["tokens"]) for each in answer["entities"]]
    claims = []
    for entity, described in zip(predicted, answer["entities"]):
        beside = [each for each in expected if each.start < entity.end and entity.start < each.end]
        right = "; ".join(_named(each, words) for each in beside) or "no entity"
        claims.append(
            Claim(_named(entity, words), right, described["confidence"], entity in expected)
        )
    num_right = sum(claim.is_right for claim in claims)
    return Case(
        " ".join(words),
        0,
        0,
        2.0 * num_right,
        float(len(predicted) + len(expected)),
        claims,
        [entity.type for entity in expected],
        [entity.type for entity in predicted],
    )


def _judge_answer(instance: Instance, answer: Answer) -> Case:
    about = instance["metadata"].metadata  # type: ignore[attr-defined]
    if "answers" not in about:
        raise ConfigurationError(_NO_ANSWERS)
    expected, predicted = about["answers"], answer["answer"]
    is_right = any(exact_match(predicted, each) for each in expected)
    claim = Claim(predicted, " or ".join(dict.fromkeys(expected)), answer["probability"], is_right)
    score = max(f1(predicted, each) for each in expected)
    text = " ".join(_words(instance["question"]))
    return Case(text, 0, 0, score, 1.0, [claim], list(expected), [predicted])


# The judges by the registered names of the predictors.
JUDGES = {
    "elmo_sst": Judge("classes", "accuracy", _judge_class, CLASSES["5-class"]),
    "elmo_snli": Judge("classes", "accuracy", _judge_class, LABELS),
    "elmo_ner": Judge("entities", "F1", _judge_entities),
    "elmo_squad": Judge("answers", "F1", _judge_answer),
}

_NO_ANSWERS = "the data has no right answers to compare with"


def _field(instance: Instance, name: str) -> Any:
    if name not in instance.fields:
        raise ConfigurationError(_NO_ANSWERS)
    return instance[name]


def _texts(instance: Instance) -> list[TextField]:
    return [field for field in instance.fields.values() if isinstance(field, TextField)]


def _words(field: Any) -> list[str]:
    return [token.text for token in field]


def _named(entity: Entity, words: list[str]) -> str:
    return " ".join([entity.type, *words[entity.start : entity.end]]).strip()

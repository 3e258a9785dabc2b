"""Compares the answers of each task's predictor with the data."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import TextField
from allennlp.models import Archive
from allennlp.predictors import Predictor
from tqdm import tqdm

from elmo_tasks.analysis.errors.case import Case, Claim, Counts
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.models.metrics.coref import coref_counts
from elmo_tasks.models.metrics.spans import Argument, arguments
from elmo_tasks.models.metrics.squad import exact_match, f1
from elmo_tasks.readers.coref import gold_clusters
from elmo_tasks.readers.coref_json import Span
from elmo_tasks.readers.entities import read_entities
from elmo_tasks.readers.srl import gold_arguments


class Compared(NamedTuple):
    """
    The cases of a data set. `kind` is a key of `COMPARISONS`, and `metric` is the name of the
    score. `classes` is the order of the classes in reports.
    """

    kind: str
    metric: str
    cases: list[Case]
    classes: Sequence[str | None] = ()


def read_cases(archive: Archive, data: str) -> Compared:
    """
    Predicts every instance of a data set, and compares the answers with the data.

    # Raises

    `ConfigurationError`: The model is of another task, or the data is empty or has no gold answers.
    """
    predictor = Predictor.from_archive(archive)
    task = getattr(predictor, "task", None)
    if task is None or task.comparison is None:
        raise ConfigurationError(
            "elmo-tasks errors compares the answers of the tasks of elmo_tasks, but the model is a "
            f"{type(archive.model).__name__}, whose predictor is {archive.model.default_predictor}"
        )
    metric, compare = COMPARISONS[task.comparison]
    instances = list(predictor._dataset_reader.read(data))
    cases = []
    with tqdm(total=len(instances), desc="predicting", delay=1) as progress:
        for instance, answer in zip(instances, predictor.stream_instances(instances)):
            if isinstance(answer, Exception):
                raise answer
            texts = [field for field in instance.fields.values() if isinstance(field, TextField)]
            num_tokens = sum(map(len, texts))
            position = {name: _position(instance, name) for name in ("line", "id")}
            case = compare(instance, answer)
            cases.append(case._replace(num_tokens=num_tokens, **position))
            progress.update()
    return Compared(task.comparison, metric, cases, task.classes)


def _compare_class(instance: Instance, answer: JsonDict) -> Case:
    return _compare_choice(instance, answer, [_field(instance, "label").label], [answer["label"]])


def _compare_labels(instance: Instance, answer: JsonDict) -> Case:
    """Compares the labels of a text that may have several labels."""
    return _compare_choice(instance, answer, _field(instance, "label").labels, answer["labels"])


def _compare_choice(
    instance: Instance, answer: JsonDict, labels: Sequence[str | int], predicted: list[str]
) -> Case:
    expected = list(map(str, labels))
    gold = "; ".join(expected) or "nothing"
    claims = [
        Claim(label, gold, answer["probabilities"][label], label in expected) for label in predicted
    ]
    return Case(_text(instance), _counts(claims, expected), claims, expected, predicted)


def _compare_tags(instance: Instance, answer: JsonDict) -> Case:
    words, predicted = answer["tokens"], answer["tags"]
    expected = list(_field(instance, "tags").labels)
    claims = [
        Claim(f"{word} {tag}", f"{word} {gold}", confidence, tag == gold)
        for word, tag, gold, confidence in zip(
            words, predicted, expected, answer["probabilities"], strict=True
        )
    ]
    return Case(" ".join(words), _counts(claims, expected), claims, expected, predicted)


def _compare_entities(instance: Instance, answer: JsonDict) -> Case:
    words = answer["tokens"]
    tags = _field(instance, "tags")
    expected = [_one_part(*entity) for entity in read_entities(tags.labels, tags.scheme)]
    predicted = {
        _one_part(entity["type"], *entity["tokens"]): entity["confidence"]
        for entity in answer["entities"]
    }
    return _compare_spans(" ".join(words), words, predicted, expected)


def _compare_roles(instance: Instance, answer: JsonDict) -> Case:
    """Compares one predicate. An argument has the confidence of its least confident part."""
    words, (predicate,) = answer["tokens"], answer["predicates"]
    _metadata(instance, "arguments")
    expected = arguments(gold_arguments(instance["metadata"].metadata))  # type: ignore[attr-defined]
    spans = {(role["role"], *role["tokens"]): role["confidence"] for role in predicate["roles"]}
    confidences = {(start, end): confidence for (_, start, end), confidence in spans.items()}
    predicted = {
        (role, parts): min(confidences[part] for part in parts) for role, parts in arguments(spans)
    }
    text = f"{predicate['text']}: {' '.join(words)}"
    return _compare_spans(text, words, predicted, expected)


def _compare_spans(
    text: str, words: list[str], predicted: Mapping[Argument, float], expected: list[Argument]
) -> Case:
    """Compares labelled spans, given the confidence in each predicted span."""
    claims = []
    for span, confidence in predicted.items():
        beside = [span_of_gold for span_of_gold in expected if _overlap(span_of_gold, span)]
        gold = (
            "; ".join(_argument_text(span_of_gold, words) for span_of_gold in beside) or "nothing"
        )
        claims.append(Claim(_argument_text(span, words), gold, confidence, span in expected))
    of_expected, of_predicted = ([type_ for type_, _ in spans] for spans in (expected, predicted))
    return Case(text, _counts(claims, expected), claims, of_expected, of_predicted)


def _compare_answer(instance: Instance, answer: JsonDict) -> Case:
    expected, predicted = _metadata(instance, "answers"), answer["answer"]
    is_right = any(exact_match(predicted, gold_text) for gold_text in expected)
    claim = Claim(predicted, " or ".join(dict.fromkeys(expected)), answer["probability"], is_right)
    score = max(f1(predicted, gold_text) for gold_text in expected)
    text = " ".join(_words(instance["question"]))
    return Case(text, [(score, 1, score, 1)], [claim], list(expected), [predicted])


def _compare_links(instance: Instance, answer: JsonDict) -> Case:
    """
    Compares predicted and gold clusters link by link. A gold mention links to the previous mention
    in its cluster. The score is the mean F1 of `CorefMetric`.
    """
    words = [word for sentence in answer["sentences"] for word in sentence]
    _metadata(instance, "clusters")
    gold = gold_clusters(instance["metadata"].metadata)  # type: ignore[attr-defined]
    expected = [sorted(cluster) for cluster in gold]
    owners = {span: index for index, cluster in enumerate(expected) for span in cluster}
    antecedents = {span: before for chain in expected for before, span in pairwise(chain)}
    claims = []
    predicted: list[list[Span]] = [
        [tuple(mention["tokens"]) for mention in cluster] for cluster in answer["clusters"]
    ]
    for cluster, spans in zip(answer["clusters"], predicted):
        for mention, span in list(zip(cluster, spans))[1:]:
            antecedent = spans[mention["antecedent"]]
            is_right = span in owners and owners[span] == owners.get(antecedent)
            claims.append(
                Claim(
                    _link(span, antecedent, words),
                    _gold_link(span, owners, antecedents, words),
                    mention["probability"],
                    is_right,
                    " ".join(answer["sentences"][mention["sentence"]]),
                )
            )
    return Case(
        " ".join(words),
        coref_counts(predicted, expected).tolist(),
        claims,
        [_link(*pair, words) for pair in antecedents.items()],
        [claim.predicted for claim in claims],
    )


# For each kind of answer (`comparison` of a predictor's `Task`): the name of the score, and the
# function that compares.
COMPARISONS: dict[str, tuple[str, Callable[[Instance, JsonDict], Case]]] = {
    "classes": ("accuracy", _compare_class),
    "labels": ("F1", _compare_labels),
    "tags": ("accuracy", _compare_tags),
    "entities": ("F1", _compare_entities),
    "answers": ("F1", _compare_answer),
    "roles": ("F1", _compare_roles),
    "links": ("mean F1", _compare_links),
}


def _field(instance: Instance, name: str) -> Any:
    return _gold(instance.fields, name)


def _metadata(instance: Instance, name: str) -> Any:
    return _gold(instance["metadata"].metadata, name)  # type: ignore[attr-defined]


def _position(instance: Instance, name: str) -> Any:
    return instance["metadata"].metadata.get(name)  # type: ignore[attr-defined]


def _gold(answers: Mapping[str, Any], name: str) -> Any:
    if name not in answers:
        raise ConfigurationError("the data has no gold answers to compare with")
    return answers[name]


def _counts(claims: Sequence[Claim], expected: Sequence[Any]) -> Counts:
    num_right = sum(claim.is_right for claim in claims)
    return [(num_right, len(claims), num_right, len(expected))]


def _text(instance: Instance) -> str:
    """Returns the texts of an instance, such as a premise and a hypothesis, as one."""
    fields = [field for field in instance.fields.values() if isinstance(field, TextField)]
    return " → ".join(" ".join(_words(field)) for field in fields)


def _words(field: Any) -> list[str]:
    return [token.text for token in field]


def _gold_link(
    span: Span, owners: dict[Span, int], antecedents: dict[Span, Span], words: list[str]
) -> str:
    if span in antecedents:
        return _link(span, antecedents[span], words)
    return "no antecedent" if span in owners else "no mention"


def _link(span: Span, antecedent: Span, words: list[str]) -> str:
    return " → ".join(" ".join(words[start:end]) for start, end in (span, antecedent))


def _one_part(type_: str, start: int, end: int) -> Argument:
    return type_, ((start, end),)


def _overlap(first: Argument, second: Argument) -> bool:
    return any(a < d and c < b for a, b in first[1] for c, d in second[1])


def _argument_text(span: Argument, words: list[str]) -> str:
    type_, parts = span
    return f"{type_} {' ... '.join(' '.join(words[start:end]) for start, end in parts)}".strip()

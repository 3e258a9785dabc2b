"""Compares the links between the mentions of a document with the data."""

from itertools import pairwise
from typing import Any

from allennlp.data import Instance

from elmo_tasks.analysis.errors.case import NO_ANSWERS, Case, Claim
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.metrics.coref import coref_counts
from elmo_tasks.readers.coref_file import Span

# The first three are kinds of predicted links. The last two are kinds of missed gold links.
RIGHT = "right"
CONFLATED = "wrong: joins two clusters"
EXTRA = "wrong: joins what is no mention"
MISSED = "missing: mention not found"
DIVIDED = "missing: mention begins a cluster"
KINDS = (RIGHT, CONFLATED, EXTRA, MISSED, DIVIDED)


def judge_links(instance: Instance, answer: dict[str, Any]) -> Case:
    """
    Compares predicted and gold clusters link by link. A gold mention links to the previous mention
    in its cluster. The score is the mean F1 of `CorefMetric`.
    """
    about = instance["metadata"].metadata  # type: ignore[attr-defined]
    if "clusters" not in about:
        raise ConfigurationError(NO_ANSWERS)
    words = [word for sentence in answer["sentences"] for word in sentence]
    expected = [sorted(cluster) for cluster in about["clusters"]]
    owners = {span: index for index, cluster in enumerate(expected) for span in cluster}
    antecedents = {span: before for each in expected for before, span in pairwise(each)}
    claims, kinds = [], []
    predicted = [[_span(mention) for mention in cluster] for cluster in answer["clusters"]]
    for cluster, spans in zip(answer["clusters"], predicted):
        for mention, span in list(zip(cluster, spans))[1:]:
            antecedent = spans[mention["antecedent"]]
            kinds.append(_kind(owners.get(span), owners.get(antecedent)))
            claims.append(
                Claim(
                    _link(span, antecedent, words),
                    _right(span, owners, antecedents, words),
                    mention["probability"],
                    kinds[-1] == RIGHT,
                    " ".join(answer["sentences"][mention["sentence"]]),
                )
            )
    begun = {spans[0] for spans in predicted}
    found = {span for spans in predicted for span in spans}
    kinds += [MISSED for span in antecedents if span not in found]
    kinds += [DIVIDED for span in antecedents if span in begun]
    return Case(
        " ".join(words),
        coref_counts(predicted, expected).tolist(),
        claims,
        [_link(*pair, words) for pair in antecedents.items()],
        kinds,
    )


def _span(mention: dict[str, Any]) -> Span:
    start, end = mention["tokens"]
    return start, end


def _kind(owner: int | None, antecedents_owner: int | None) -> str:
    if owner is None or antecedents_owner is None:
        return EXTRA
    return RIGHT if owner == antecedents_owner else CONFLATED


def _right(
    span: Span, owners: dict[Span, int], antecedents: dict[Span, Span], words: list[str]
) -> str:
    if span in antecedents:
        return _link(span, antecedents[span], words)
    return "no antecedent" if span in owners else "no mention"


def _link(span: Span, antecedent: Span, words: list[str]) -> str:
    return " → ".join(" ".join(words[start:end]) for start, end in (span, antecedent))

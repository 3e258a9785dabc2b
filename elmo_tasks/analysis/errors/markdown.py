import re
from collections.abc import Sequence
from typing import Any

from elmo_tasks.analysis.errors.bootstrap import Difference
from elmo_tasks.analysis.errors.case import Case
from elmo_tasks.analysis.errors.report import ErrorReport, Group, score_of
from elmo_tasks.analysis.tables import table

# The maximum number of characters of a text.
_LONGEST = 300


def markdown(report: ErrorReport) -> str:
    """Returns a report as Markdown."""
    judge = report.judged.judge
    metric = judge.metric
    parts = [
        f"# Errors of {report.model} on {report.data}",
        f"{len(report.cases):,} cases; {metric} {_percent(report.score())} %.",
    ]
    if judge.kind == "classes":
        parts += ["## Which class is taken for which", _confusion(report)]
    if judge.kind == "entities":
        parts += ["## Types of entities", _types(report)]
    if judge.kind == "labels":
        parts += ["## Labels", _types(report)]
    if judge.kind == "tags":
        parts += ["## Tags", _types(report)]
    if judge.kind == "roles":
        parts += ["## Roles", _types(report)]
    if judge.kind == "links":
        links = [[kind, f"{count:,}"] for kind, count in report.links().items()]
        parts += ["## Links between mentions", table(["link", "how many"], links)]
    parts += [
        "## By length",
        _group_table("tokens", metric, report.by_length()),
        "## By share of unknown words",
        _group_table("unknown words", metric, report.by_unknown()),
        "## Calibration",
        f"Expected calibration error: {_percent(report.calibration_error())} %.",
        _calibration(report),
        "## The most confident mistakes",
        _mistakes(report),
    ]
    difference = report.difference()
    if difference is not None:
        parts += _against(report, difference)
    return "\n\n".join(parts)


def _confusion(report: ErrorReport) -> str:
    confusion = report.confusion()
    rows = [
        [_plain(expected), *(f"{count:,}" for count in row.values())]
        for expected, row in confusion.items()
    ]
    return table(["expected, and predicted as:", *map(_plain, confusion)], rows)


def _types(report: ErrorReport) -> str:
    rows = [
        [
            _plain(each.type or "entity"),
            f"{each.expected:,}",
            f"{each.predicted:,}",
            _percent(each.precision),
            _percent(each.recall),
        ]
        for each in report.types()
    ]
    return table(["type", "expected", "predicted", "precision, %", "recall, %"], rows)


def _group_table(name: str, metric: str, groups: Sequence[Group]) -> str:
    rows = [[each.name, f"{each.num_cases:,}", _percent(each.score)] for each in groups]
    return table([name, "cases", f"{metric}, %"], rows)


def _calibration(report: ErrorReport) -> str:
    rows = [
        [
            f"{100 * each.low:.0f} to {100 * each.high:.0f} %",
            f"{each.num_claims:,}",
            _percent(each.confidence),
            _percent(each.right),
        ]
        for each in report.bins()
    ]
    return table(["confidence", "claims", "mean confidence, %", "right, %"], rows)


def _mistakes(report: ErrorReport) -> str:
    lines = [
        f"{index}. {claim.confidence:.3f} **{_plain(claim.predicted)}**, expected "
        f"**{_plain(claim.expected)}**: {_plain(claim.text or case.text)}"
        for index, (claim, case) in enumerate(report.mistakes(), start=1)
    ]
    return "\n".join(lines) or "There are none."


def _against(report: ErrorReport, difference: Difference) -> list[str]:
    counts = report.agreement()
    metric = report.judged.judge.metric
    verdict = "more than chance" if difference.p_value < 0.05 else "no more than chance may explain"
    return [
        f"## Against {report.other}",
        f"{report.other} has {metric} {_percent(score_of(report.other_cases))} %. The difference "
        f"is {_signed(difference.difference)} points, with a 95 % interval from "
        f"{_signed(difference.low)} to {_signed(difference.high)} (paired bootstrap, p = "
        f"{difference.p_value:.4f}): {verdict}.",
        f"{report.model} is better in {counts['better']:,} cases and worse in {counts['worse']:,}; "
        f"in {counts['equal']:,} both are as good.",
        f"### Where only {report.model} is right",
        _pairs(report.better_than_other()),
        f"### Where only {report.other} is right",
        _pairs(report.worse_than_other()),
    ]


def _pairs(pairs: Sequence[tuple[Case, Case]]) -> str:
    lines = [
        f"{index}. **{_said(mine)}** against **{_said(others)}**, expected "
        f"**{_plain(' or '.join(dict.fromkeys(mine.expected)) or 'nothing')}**: {_plain(mine.text)}"
        for index, (mine, others) in enumerate(pairs, start=1)
    ]
    return "\n".join(lines) or "There are none."


def _said(case: Case) -> str:
    return _plain("; ".join(claim.predicted for claim in case.claims) or "nothing")


def _plain(text: Any) -> str:
    """Returns a text on one line. A long text is cut, and characters of markup are escaped."""
    line = " ".join(str(text).split())
    if len(line) > _LONGEST:
        line = line[:_LONGEST].rsplit(" ", 1)[0] + " …"
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", line)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _signed(share: float) -> str:
    return f"{100 * share:+.2f}"

import re
from collections.abc import Iterable, Sequence
from typing import Any

from elmo_tasks.analysis.tables import table

# The maximum number of characters of a text.
_LONGEST = 300

_HEADINGS = {
    "classes": "Which class is taken for which",
    "entities": "Types of entities",
    "labels": "Labels",
    "tags": "Tags",
    "roles": "Roles",
    "links": "Links between mentions",
}


def markdown(report: dict[str, Any], kind: str) -> str:
    """Returns what `error_report` returned as Markdown. `kind` is that of the judge."""
    metric = report["metric"]
    parts = [
        f"# Errors of {report['model']} on {report['data']}",
        f"{report['num_cases']:,} cases; {metric} {_percent(report['score'])} %.",
    ]
    if kind in _HEADINGS:
        parts += [f"## {_HEADINGS[kind]}", _first_table(report)]
    parts += [
        "## By length",
        _group_table("tokens", metric, report["by_length"]),
        "## By share of unknown words",
        _group_table("unknown words", metric, report["by_unknown"]),
        "## Calibration",
        f"Expected calibration error: {_percent(report['calibration_error'])} %.",
        _calibration(report["calibration"]),
        "## The most confident mistakes",
        _numbered(
            f"{each['confidence']:.3f} **{_plain(each['predicted'])}**, expected "
            f"**{_plain(each['expected'])}**: {_plain(each['text'])}"
            for each in report["mistakes"]
        ),
    ]
    if "against" in report:
        parts += _against(report)
    return "\n\n".join(parts)


def _first_table(report: dict[str, Any]) -> str:
    if "confusion" in report:
        confusion = report["confusion"]
        rows = [
            [_plain(expected), *(f"{count:,}" for count in row.values())]
            for expected, row in confusion.items()
        ]
        return table(["expected, and predicted as:", *map(_plain, confusion)], rows)
    if "links" in report:
        links = [[kind, f"{count:,}"] for kind, count in report["links"].items()]
        return table(["link", "how many"], links)
    rows = [
        [
            _plain(each["type"] or "entity"),
            f"{each['expected']:,}",
            f"{each['predicted']:,}",
            _percent(each["precision"]),
            _percent(each["recall"]),
        ]
        for each in report["types"]
    ]
    return table(["type", "expected", "predicted", "precision, %", "recall, %"], rows)


def _group_table(name: str, metric: str, groups: Sequence[dict[str, Any]]) -> str:
    rows = [[each["name"], f"{each['num_cases']:,}", _percent(each["score"])] for each in groups]
    return table([name, "cases", f"{metric}, %"], rows)


def _calibration(bins: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            f"{100 * each['low']:.0f} to {100 * each['high']:.0f} %",
            f"{each['num_claims']:,}",
            _percent(each["confidence"]),
            _percent(each["right"]),
        ]
        for each in bins
    ]
    return table(["confidence", "claims", "mean confidence, %", "right, %"], rows)


def _against(report: dict[str, Any]) -> list[str]:
    model, against = report["model"], report["against"]
    other, counts = against["model"], against["cases"]
    verdict = "more than chance" if against["p_value"] < 0.05 else "no more than chance may explain"
    return [
        f"## Against {other}",
        f"{other} has {report['metric']} {_percent(against['score'])} %. The difference "
        f"is {_signed(against['difference'])} points, with a 95 % interval from "
        f"{_signed(against['low'])} to {_signed(against['high'])} (paired bootstrap, p = "
        f"{against['p_value']:.4f}): {verdict}.",
        f"{model} is better in {counts['better']:,} cases and worse in {counts['worse']:,}; "
        f"in {counts['equal']:,} both are as good.",
        f"### Where only {model} is right",
        _numbered(map(_pair, against["only_this_is_right"])),
        f"### Where only {other} is right",
        _numbered(map(_pair, against["only_the_other_is_right"])),
    ]


def _pair(case: dict[str, Any]) -> str:
    mine, others = (
        _plain("; ".join(case[name]) or "nothing") for name in ("predicted", "predicted_by_other")
    )
    expected = _plain(" or ".join(dict.fromkeys(case["expected"])) or "nothing")
    return f"**{mine}** against **{others}**, expected **{expected}**: {_plain(case['text'])}"


def _numbered(lines: Iterable[str]) -> str:
    numbered = [f"{index}. {line}" for index, line in enumerate(lines, start=1)]
    return "\n".join(numbered) or "There are none."


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

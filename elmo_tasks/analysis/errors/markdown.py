import re
from collections.abc import Iterable
from typing import Any

from elmo_tasks.analysis.tables import table

# The maximum number of characters of a text.
_LONGEST = 300


def markdown(report: dict[str, Any]) -> str:
    """Returns the report of `error_report` as Markdown."""
    metric = report["metric"]
    parts = [
        f"# Errors of {report['model']} on {report['data']}",
        f"{report['num_cases']:,} cases; {metric} {_percent(report['score'])} %.",
    ]
    if "confusion" in report:
        rows = [[expected, *row.values()] for expected, row in report["confusion"].items()]
        columns = ["expected, and predicted as:", *report["confusion"]]
        parts += ["## Which class is taken for which", _table(columns, rows)]
    if "types" in report:
        rows = [
            [name or "entity", *numbers] for name, *numbers in map(dict.values, report["types"])
        ]
        kind = "class" if "confusion" in report else "type"
        columns = [kind, "expected", "predicted", "precision, %", "recall, %", "F1, %"]
        if macro := report.get("macro"):
            rows.append([f"mean of each {kind}", "", "", *macro.values()])
        parts += [f"## By {kind}", _table(columns, rows)]
    by_confidence = [
        [f"{100 * low:.0f} to {100 * high:.0f} %", *cells]
        for low, high, *cells in map(dict.values, report["calibration"])
    ]
    parts += [
        "## By length",
        _table(["tokens", "cases", f"{metric}, %"], map(dict.values, report["by_length"])),
        "## Calibration",
        f"Expected calibration error: {_percent(report['calibration_error'])} %.",
        _table(["confidence", "claims", "mean confidence, %", "right, %"], by_confidence),
        "## The most confident mistakes",
        "\n".join(
            f"{index}. {case['confidence']:.3f}{_position(case)} **{_plain(case['predicted'])}**, "
            f"expected **{_plain(case['expected'])}**: {_plain(case['text'])}"
            for index, case in enumerate(report["mistakes"], start=1)
        )
        or "There are none.",
    ]
    if "against" in report:
        parts += _against(report)
    return "\n\n".join(parts)


def _position(case: dict[str, Any]) -> str:
    """Returns the line and the id of a case in the file, if they are known."""
    names = [name for name in ("line", "id") if name in case]
    return "".join(f", {name} {_plain(case[name])}" for name in names)


def _table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Returns a table of names, counts, and shares in percent."""
    return table([*map(_plain, columns)], [[*map(_cell, row)] for row in rows])


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return _plain(value)
    return f"{value:,}" if isinstance(value, int) else _percent(value)


def _against(report: dict[str, Any]) -> list[str]:
    model, against = report["model"], report["against"]
    other_name, counts = against["model"], against["cases"]
    verdict = "more than chance" if against["p_value"] < 0.05 else "no more than chance may explain"
    return [
        f"## Against {other_name}",
        f"{other_name} has {report['metric']} {_percent(against['score'])} %. The difference "
        f"is {_percent_difference(against['difference'])} points, with a 95 % interval from "
        f"{_percent_difference(against['low'])} to {_percent_difference(against['high'])} "
        f"(paired bootstrap, p = {against['p_value']:.4f}): {verdict}.",
        f"{model} is better in {counts['better']:,} cases and worse in {counts['worse']:,}; "
        f"in {counts['equal']:,} both are as good.",
    ]


def _plain(text: Any) -> str:
    """Returns a text on one line. A long text is cut, and characters of markup are escaped."""
    line = " ".join(str(text).split())
    if len(line) > _LONGEST:
        line = line[:_LONGEST].rsplit(" ", 1)[0] + " …"
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", line)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _percent_difference(share: float) -> str:
    return f"{100 * share:+.2f}"

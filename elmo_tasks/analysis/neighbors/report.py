from collections.abc import Iterator, Sequence
from typing import Any

from elmo_tasks.analysis.neighbors.occurrences import Occurrence


def title(report: dict[str, Any]) -> str:
    found, shown = report["num_occurrences"], sum(map(len, report["groups"]))
    part = f"{found:,}" if shown == found else f"{shown:,} of {found:,}"
    about = f"occurrences of {report['word']}, compared in layer {report['layer']}"
    return f"{part} {about} of {report['bilm']}"


def text_of(report: dict[str, Any], max_lines: int) -> str:
    """Returns a report as text, with at most `max_lines` occurrences in each section."""
    lines = [f"{title(report)}; {report['num_sentences']:,} sentences of {report['text']}"]
    if report["beside"] is not None:
        lines += ["", f"Compared with: {' '.join(report['beside']['words'])}"]
    for heading, shown in _sections(report, max_lines):
        lines += ["", f"{heading}:"]
        lines += [f"{each['cosine']:6.3f} {_occurrence(each).line()}" for each in shown]
    lines.append("")
    if len(report["groups"]) > 1:
        cosines = [
            f"{pair['mean_cosine']:.3f} {'within' if i == j else 'between'} "
            f"{i if i == j else f'{i} and {j}'}"
            for pair in report["mean_cosines"]
            for i, j in [pair["clusters"]]
        ]
        lines.append(f"Mean cosines of two occurrences: {', '.join(cosines)}.")
    similar = _listed(report["nearest_words_of_layer_0"])
    lines.append(f"Nearest words in layer 0, which ignores the context: {similar}.")
    if in_file := report["nearest_words_of_file"]:
        lines.append(f"Nearest words in the word vectors: {_listed(in_file)}.")
    return "\n".join(lines)


def _sections(report: dict[str, Any], max_lines: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """
    Yields a heading and the occurrences below it: for each cluster the most typical ones, or if the
    occurrences are ranked, the nearest and, if any are left, the furthest.
    """
    if report["beside"] is None:
        for k, group in enumerate(report["groups"], start=1):
            heading = f"Cluster {k}, {len(group):,} occurrences, the most typical first"
            yield heading, group[:max_lines]
        return
    (ranked,) = report["groups"]
    yield "The nearest", ranked[:max_lines]
    if furthest := ranked[max_lines:][-max_lines:]:
        yield "The furthest", furthest


def _occurrence(found: dict[str, Any]) -> Occurrence:
    return Occurrence(found["words"], found["place"])


def _listed(similar: Sequence[dict[str, Any]]) -> str:
    return ", ".join(f"{each['word']} {each['cosine']:.2f}" for each in similar) or "none"

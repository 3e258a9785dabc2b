"""How commands give the report on a biLM or a model: as text, JSON and a chart."""

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

# matplotlib is imported only for a chart.
if TYPE_CHECKING:
    from matplotlib.figure import Figure


def add_report(parser: argparse.ArgumentParser, has_chart: bool = True) -> None:
    """Adds the options that `deliver` reads."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the numbers as JSON, too; with -, print them instead of the text",
    )
    if has_chart:
        parser.add_argument("--chart", metavar="FILE", help="draw a chart, too, as PNG")


def deliver(
    args: argparse.Namespace,
    text: str,
    numbers: Mapping[str, Any],
    draw: "Callable[[], Figure] | None" = None,
) -> None:
    """
    Prints the text of a report, or with `--json -` its numbers, and writes the files of `--json`
    and `--chart`.
    """
    import json

    from elmo_tasks.common.files import atomic_write, write_whole
    from elmo_tasks.common.printable import printable

    content = json.dumps(numbers, indent=2, ensure_ascii=False)
    # A label or name from an archive may contain control characters.
    print(content if args.json == "-" else "\n".join(map(printable, text.split("\n"))))
    if args.json not in (None, "-"):
        write_whole(args.json, content + "\n")
    if draw is not None and args.chart is not None:
        with atomic_write(args.chart) as aside:
            draw().savefig(aside, format="png", dpi=150)

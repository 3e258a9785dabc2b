"""What the commands that report have in common: a text, its numbers as JSON, a picture."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elmo_tasks.analysis.environment import describe_environment
from elmo_tasks.common.files import atomic_write

# Pictures are drawn by functions that import it themselves: it takes its time, and no other
# command needs it.
if TYPE_CHECKING:
    from matplotlib.figure import Figure


def add_outputs(subparser: argparse.ArgumentParser) -> None:
    """The options that `deliver` reads."""
    subparser.add_argument(
        "--json", metavar="FILE", help="write the numbers as JSON as well; - prints them instead"
    )
    subparser.add_argument("--chart", metavar="FILE", help="draw a picture as well, a PNG")


def deliver(
    args: argparse.Namespace,
    text: str,
    numbers: Mapping[str, Any],
    draw: Callable[[], "Figure"],
) -> None:
    """Prints the text, or the numbers, and writes the files that were asked for, whole."""
    content = json.dumps({**numbers, **describe_environment()}, indent=2, ensure_ascii=False)
    print(content if args.json == "-" else text)
    if args.json not in (None, "-"):
        with atomic_write(args.json) as aside:
            aside.write_text(content + "\n", encoding="utf-8")
    if args.chart is not None:
        with atomic_write(args.chart) as aside:
            draw().savefig(aside, format="png", dpi=150)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown, aligned for the eye too: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(columns, *rows)]
    return "\n".join(
        f"| {' | '.join(_aligned(cell, width) for cell, width in zip(line, widths))} |"
        for line in (columns, ["-" * width for width in widths], *rows)
    )


def layer_name(number: int) -> str:
    """Of a layer of a biLM."""
    return f"LSTM {number}" if number else "tokens"


def _aligned(cell: str, width: int) -> str:
    is_number = cell[:1].isdigit() or cell[:1] == "-" and cell[1:2].isdigit()
    return cell.rjust(width) if is_number else cell.ljust(width)

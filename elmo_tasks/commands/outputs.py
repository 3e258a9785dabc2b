"""What the commands that report have in common: a text, its numbers as JSON, a picture."""

import argparse
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from elmo_tasks.analysis.environment import describe_environment
from elmo_tasks.common.files import written_aside

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
        with written_aside(args.json) as aside:
            aside.write_text(content + "\n", encoding="utf-8")
    if args.chart is not None:
        with written_aside(args.chart) as aside:
            draw().savefig(aside, format="png", dpi=150)

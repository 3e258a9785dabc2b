"""How commands give the report on a biLM or a model: as text and JSON."""

import argparse
from collections.abc import Mapping
from typing import Any


def add_report(parser: argparse.ArgumentParser) -> None:
    """Adds the option that `deliver` reads."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the numbers as JSON, too; with -, print them instead of the text",
    )


def deliver(args: argparse.Namespace, text: str, numbers: Mapping[str, Any]) -> None:
    """Prints the text of a report, or with `--json -` its numbers, and writes them to a file."""
    import json

    from elmo_tasks.analysis.environment import describe_environment
    from elmo_tasks.common.files import write_whole
    from elmo_tasks.common.printable import printable

    content = json.dumps({**numbers, **describe_environment()}, indent=2, ensure_ascii=False)
    # A label or name from an archive may contain control characters.
    print(content if args.json == "-" else "\n".join(map(printable, text.split("\n"))))
    if args.json not in (None, "-"):
        write_whole(args.json, content + "\n")

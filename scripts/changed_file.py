"""Runs a script that reads a file of training data and writes a changed copy of it."""

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.outputs import check_outputs

# Makes another text of the text of a file.
Change = Callable[[str, random.Random], str]


def make_parser(description: str | None, changes: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Returns a parser for a file, an output and a seed. `changes` are what a script offers."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if changes:
        parser.add_argument("change", choices=changes)
    parser.add_argument("file", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--force", action="store_true", help="replace an output that exists")
    return parser


def write_changed(args: argparse.Namespace, change: Change) -> None:
    """Writes what `change` makes of the file. Ends the script with an error in one line."""
    try:
        check_outputs([args.output], [args.file], args.force)
        changed = change(args.file.read_text(encoding="utf-8"), random.Random(args.seed))
    except (ConfigurationError, OSError) as error:
        sys.exit(f"error: {error}")
    except ValueError as error:
        sys.exit(f"error: {args.file}: {error}")
    args.output.write_text(changed, encoding="utf-8")

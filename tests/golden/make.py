"""
Makes golden files anew: `python -m tests.golden.make base` the cases that depend on the biLM
`base`, and `python -m tests.golden.make` all files. `losses/sst` makes those that begin so.
"""

import argparse
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

import elmo_tasks.plugin  # noqa: F401  registers every name
from tests.golden.cases import FILES, FOLDER
from tests.golden.numbers import round_numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("begins", nargs="*", help="how the cases begin (default: all cases)")
    begins = tuple(parser.parse_args().begins)
    chosen = {
        file: [name for name in golden.cases if not begins or f"{file}/{name}".startswith(begins)]
        for file, golden in FILES.items()
    }
    if not any(chosen.values()):
        parser.error(
            f"no case begins with {' or '.join(begins)}; a new config is added to git first"
        )
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    for file, names in chosen.items():
        if not names:
            continue
        path, computed = FOLDER / f"{file}.json", FILES[file].cases
        cases = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for name in names:
            print(f"{file}/{name}", file=sys.stderr)
            with tempfile.TemporaryDirectory() as folder:
                cases[name] = round_numbers(computed[name](Path(folder)))
        cases = {name: cases[name] for name in computed if name in cases}
        path.write_text(_text(cases), encoding="utf-8")


def _text(cases: dict[str, Any]) -> str:
    """Returns JSON with a line for each item of a case, so that git shows what has changed."""
    return (
        "{\n" + ",\n".join(f"{json.dumps(name)}: {_lines(cases[name])}" for name in cases) + "\n}\n"
    )


def _lines(case: Any) -> str:
    if isinstance(case, dict):
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in case.items()]
        return "{\n " + ",\n ".join(lines) + "\n}"
    if isinstance(case, list) and case and isinstance(case[0], dict):
        return "[\n " + ",\n ".join(map(json.dumps, case)) + "\n]"
    return json.dumps(case)


if __name__ == "__main__":
    main()

"""What was measured, in a JSON file, and its table."""

import json
import statistics
from collections.abc import Iterable
from pathlib import Path

from elmo_tasks.analysis.tables import table
from elmo_tasks.common.files import atomic_write

# The values of each measure, several if it was measured with several draws.
Rows = dict[str, list[float]]

BASELINE = "without a biLM"


class Results:
    """
    The rows of each biLM and part, kept in a file, so that a run goes on where another one ended.

    # Parameters

    path: A file in JSON: the key of each biLM -> the name of each part -> its `Rows`. It is written
        anew after each part.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[str, dict[str, Rows]] = {}
        if path.exists():
            self._rows = json.loads(path.read_text(encoding="utf-8"))

    def has(self, key: str, part: str) -> bool:
        return part in self._rows.get(key, {})

    def add(self, key: str, part: str, rows: Rows) -> None:
        self._rows.setdefault(key, {})[part] = rows
        with atomic_write(self.path) as aside:
            aside.write_text(json.dumps(self._rows, indent=1), encoding="utf-8")

    def table(self, keys: dict[str, str], parts: Iterable[str]) -> str:
        """
        Returns a table in Markdown with a column for each biLM.

        # Parameters

        keys: The key of each column, by its title.
        parts: The parts whose rows are shown.
        """
        lines = []
        for part in parts:
            columns = [self._rows.get(key, {}).get(part, {}) for key in keys.values()]
            names = dict.fromkeys(name for column in columns for name in column)
            lines += [
                [name, *(_cell(column.get(name, [])) for column in columns)] for name in names
            ]
        return table(["", *keys], lines)


def _cell(values: list[float]) -> str:
    """Returns the mean, and the standard deviation if there are several values."""
    if not values:
        return ""
    mean = f"{statistics.mean(values):.1f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.1f}"

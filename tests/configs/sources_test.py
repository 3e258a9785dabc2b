"""
Tests of the numbers of the configs against the papers and the code that they come from. Each line
of sources.tsv has configs, a path, its value in JSON, and the source. A task without a variant
stands for its `both` and `paper`; the value `null` means that the config has nothing at this path.
"""

import csv
import json
from pathlib import Path

import pytest

from tests.helpers.configs import config, number_at

with Path(__file__).with_name("sources.tsv").open(encoding="utf-8", newline="") as file:
    SOURCES = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def names(row: dict[str, str]) -> set[str]:
    """Returns the configs of a row."""
    return {
        name
        for each in row["config"].split()
        for name in ([each] if "/" in each else [f"{each}/both", f"{each}/paper"])
    }


@pytest.mark.parametrize("name", sorted(set().union(*map(names, SOURCES))))
def test_numbers_are_those_of_their_sources(name: str) -> None:
    evaluated = config(*name.split("/"))
    rows = [row for row in SOURCES if name in names(row)]

    wrong = [
        f"{row['path']} is {found}, and {row['value']} in {row['source']}"
        for row in rows
        if (found := number_at(row["path"], evaluated)) != json.loads(row["value"])
    ]

    assert not wrong, f"training_configs/{name}.jsonnet: {wrong}"

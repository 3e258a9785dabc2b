"""Tries a part of the mistakes of `scripts/config_mistakes.py`, which tries all of them."""

import itertools

import pytest

from scripts.config_mistakes import cost, mistakes

# The kinds of mistakes that are found in the config alone, wherever they are.
SHOWN = {"name misspelt", "value misspelt", "a list for an object", "a string for an object"}

# Names that a user chooses: what they belong to is known with the data.
CHOSEN = ("tokens_to_add", "min_count")


@pytest.mark.parametrize(("folder", "name"), [("sst", "both"), ("ner", "both"), ("bilm", "base")])
def test_a_mistake_costs_one_line_before_data_are_read_and_leaves_no_folder(
    folder: str, name: str
) -> None:
    found = [
        each
        for each in mistakes(folder, name)
        if each.change in SHOWN and not any(part in CHOSEN for part in each.path.split("."))
    ]
    assert len(found) > 60

    for mistake in itertools.islice(found, 0, None, 6):
        line, faults = cost(mistake.config)
        assert line and not faults, (mistake.path, mistake.change, line, faults)

"""
Makes mistakes in the shipped configs, trains with each on the small files of `fixtures/`, and
prints what it costs: its line, and whether it came before data were read and left no folder.

    python -m scripts.config_mistakes [--tasks sst ner] [--all]

Each argument of each object is misspelt, left out, made null, and given a value of another kind; a
registered name is misspelt, and a number becomes -1. What several configs share is tried once. All
of them take ten minutes. tests/commands/in_allennlp/config_mistakes_test.py tries a part.
"""

import argparse
import collections
import contextlib
import copy
import functools
import io
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from allennlp.common import Params  # noqa: E402
from allennlp.data import DatasetReader  # noqa: E402

import elmo_tasks.plugin  # noqa: E402, F401
from elmo_tasks.commands.command import message_of  # noqa: E402
from elmo_tasks.commands.in_allennlp.train_command import train_model  # noqa: E402
from elmo_tasks.language_model.corpus_loader import CorpusLoader  # noqa: E402
from tests.helpers.configs import SHIPPED, tiny  # noqa: E402

# Parts of AllenNLP that no shipped config has.
_MORE = """{ trainer+: {
  callbacks+: [{ type: 'should_validate_callback', validation_start: 0 }],
  learning_rate_scheduler: { type: 'reduce_on_plateau', factor: 0.5, mode: 'max', patience: 2 },
} }"""

# Objects whose fields are not arguments: names that the user chooses.
_OF_NAMES = ("token_embedders", "token_indexers", "pretrained_files", "min_pretrained_embeddings")


class Mistake(NamedTuple):
    """A change at a dotted path of a config, in words and as a config."""

    change: str
    path: str
    config: dict[str, Any]


class Cost(NamedTuple):
    """
    # Parameters

    line: The message; empty if the training went well.
    faults: What is wrong: `traceback`, `lines`, `late`, `folder`.
    """

    line: str
    faults: tuple[str, ...]


def mistakes(folder: str, name: str) -> Iterator[Mistake]:
    """Yields all mistakes in a shipped config."""
    config = small(folder, name)
    for keys, value in _places(config):
        for change, new_value in _changes(keys, value):
            yield Mistake(change, ".".join(map(str, keys)), _with(config, keys, new_value))


def small(folder: str, name: str) -> dict[str, Any]:
    config = tiny(folder, name, *([_MORE] if (folder, name) == ("sst", "both") else []))
    config["trainer"]["num_epochs"] = 1
    return config


def cost(config: dict[str, Any]) -> Cost:
    """Trains with a config in an empty folder, and returns what came of it."""
    is_read = []

    def note(method: Any) -> Any:
        @functools.wraps(method)
        def note_call(*args: Any, **options: Any) -> Any:
            is_read.append(True)
            return method(*args, **options)

        return note_call

    with (
        tempfile.TemporaryDirectory() as parent,
        patch.object(DatasetReader, "read", note(DatasetReader.read)),
        patch.object(CorpusLoader, "_sentences", note(CorpusLoader._sentences)),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        run = Path(parent, "run")
        try:
            train_model(Params(copy.deepcopy(config)), str(run), archive=False)
            return Cost("", ())
        except Exception as error:
            line = message_of(error)
            message = line if line is not None else f"{type(error).__name__}: {error}"
            faults = {
                "traceback": line is None,
                "lines": line is not None and "\n" in line.strip(),
                "late": bool(is_read),
                "folder": run.exists(),
            }
            return Cost(" ".join(message.split()), tuple(k for k, v in faults.items() if v))


def _places(value: Any, keys: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """Yields the keys that lead to each value of a config, and the value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in items:
        # The options of a biLM are those of its weights.
        if key == "options":
            continue
        yield (*keys, key), child
        if isinstance(child, dict | list):
            yield from _places(child, (*keys, key))


_GONE = object()


def _changes(keys: tuple, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields what can be wrong with a value, and the wrong one; a misspelt key as a function."""
    is_argument = isinstance(keys[-1], str) and not (len(keys) > 1 and keys[-2] in _OF_NAMES)
    if is_argument:
        yield "name misspelt", _misspell
        yield "left out", _GONE
        yield "null", None
    if isinstance(value, str):
        if keys[-1] == "type":
            yield "value misspelt", _misspell(value)
        yield "a number for a string", 3
        yield "a list for a string", [value]
    elif isinstance(value, bool):
        yield "a string for true or false", "yes"
    elif isinstance(value, int | float):
        yield "a string for a number", str(value)
        yield "a list for a number", [value]
        yield "-1", -1
    elif isinstance(value, dict):
        yield "a string for an object", "x"
        yield "a list for an object", [value]
        yield "an empty object", {}
    elif isinstance(value, list):
        yield "a string for a list", "x"
        yield "an object for a list", {"x": 1}
        if value and isinstance(value[0], int):
            yield "a number for a list", 3


def _misspell(name: str) -> str:
    """Swaps two letters in the middle, or adds one to a short name."""
    middle = len(name) // 2
    pair = name[middle - 1 : middle + 1]
    if len(name) < 4 or pair[0] == pair[1]:
        return name + name[-1]
    return name[: middle - 1] + pair[::-1] + name[middle + 1 :]


def _with(config: dict[str, Any], keys: tuple, value: Any) -> dict[str, Any]:
    new_config = copy.deepcopy(config)
    *parents, last = keys
    within: Any = new_config
    for key in parents:
        within = within[key]
    if value is _GONE:
        del within[last]
    elif callable(value):
        items = {value(key) if key == last else key: content for key, content in within.items()}
        within.clear()
        within.update(items)
    else:
        within[last] = value
    return new_config


def _kind(mistake: Mistake, config: dict[str, Any]) -> tuple[str, str, str]:
    """Returns what a mistake has in common with those of other configs."""
    kind, within = "", config
    *parents, last = mistake.path.split(".")
    for key in parents:
        within = within[int(key)] if isinstance(within, list) else within[key]
        kind = within.get("type", key) if isinstance(within, dict) else kind
    return str(kind), re.sub(r"\d+", "N", last), mistake.change


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n")[0])
    parser.add_argument("--tasks", nargs="*", default=[*SHIPPED], help="default: all")
    parser.add_argument("--all", action="store_true", help="show also what costs a line only")
    args = parser.parse_args()
    os.chdir(ROOT)
    logging.disable()
    counts: collections.Counter[str] = collections.Counter()
    for mistake in _distinct(args.tasks):
        line, faults = cost(mistake.config)
        result = " ".join(faults) or ("one line" if line else "no mistake")
        counts[result] += 1
        if args.all or faults:
            print(f"{result} | {mistake.path} | {mistake.change} | {line:.200}", flush=True)
    for result, number in sorted(counts.items()):
        print(f"{number:5} {result}")


def _distinct(folders: list[str]) -> Iterator[Mistake]:
    """Yields the mistakes in all configs of some folders, those that they share once."""
    keys = set()
    for folder in folders:
        for name in SHIPPED[folder]:
            config = small(folder, name)
            for mistake in mistakes(folder, name):
                key = _kind(mistake, config)
                if key not in keys:
                    keys.add(key)
                    yield mistake


if __name__ == "__main__":
    main()

"""Someone who reads a page of docs/ and gives its commands."""

import argparse
import functools
import importlib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import parse_args

from elmo_tasks.commands.command import COMMANDS, IN_ALLENNLP
from elmo_tasks.console import make_parser
from elmo_tasks.training.config_names import read_config
from scripts.fetch_data import GLOVE, IMDB, SOURCES
from tests.helpers.configs import ROOT, evaluate

# Commands of a shell that need no check beside that of their files.
SHELL = {"curl", "echo", "gzip", "mkdir", "paste", "pip", "sed", "shuf", "split", "uv", "xz", "."}
SHELL |= {"cd", "git"}
# Options whose values are files or folders that a command writes.
OUTPUTS = {"-s", "--serialization-dir", "--output-file", "--chart", "--json"}
OUTPUTS |= {"--output", "--paths.store"}
# Commands whose second positional argument is written.
WRITES_SECOND = {"convert", "embed", "export", "new", "pack"}
FETCHED = {
    str(Path("data", source.folder, name))
    for source in [*SOURCES, IMDB, *GLOVE.values()]
    for name in source.names
}
# Files that are not in the repository, and what a page must say so that a reader can get them.
OBTAINABLE = {
    "data/conll2003/": r"nist\.gov|ner\.md#data",
    "data/conll2012/": r"catalog\.ldc\.upenn\.edu|srl\.md#data",
    "senna/": r"https://ronan\.collobert\.com/senna",
    "my/": r"of yours|\byour",
    ".venv/bin/activate": r"make demo|make test",
}


class Parsed(Exception):
    """Ends a script whose arguments its parser has accepted."""


class PageReader:
    """
    Someone who gives the commands of a page one after the other, and has the files that the page
    says how to get and those that earlier commands made.

    # Parameters

    page: The page.
    monkeypatch: Sets `sys.argv`.
    checks_files (default `True`): Whether the files and configs that a command names must exist.
    """

    def __init__(
        self, page: Path, monkeypatch: pytest.MonkeyPatch, checks_files: bool = True
    ) -> None:
        self.text = page.read_text(encoding="utf-8")
        self.monkeypatch = monkeypatch
        self.checks_files = checks_files
        # The README's first commands train this; pages that are linked train other models.
        self.made = {"runs/sst/both", "runs/layers"}
        for name in re.findall(r"\]\((\w+\.md)[#)]", self.text):
            linked = (page.parent / name).read_text(encoding="utf-8")
            self.made |= set(re.findall(r"(?:allennlp|elmo-tasks) train \S+ -s (\S+)", linked))

    def give(self, line: str) -> None:
        """Fails where the command cannot be right."""
        for words in simple_commands(line):
            if re.fullmatch(r"ALLENNLP_LOG_LEVEL=\w+", words[0]):
                words = words[1:]
            # The file after `>` is the shell's.
            program, *arguments = words[: words.index(">")] if ">" in words else words
            if program == "allennlp":
                self.give_allennlp(arguments)
            elif words[:3] == ["python", "-m", "spacy"]:
                words = words[2:]
            elif program == "elmo-tasks" or words[:3] == ["python", "-m", "elmo_tasks"]:
                self.give_elmo_tasks(arguments[2 * (program == "python") :] or ["--help"])
            elif program == "python":
                self.give_python(arguments)
            elif program == "make":
                assert {word for word in arguments if "=" not in word} <= targets(), line
            else:
                assert program in SHELL, f"unknown command: {line}"
            if self.checks_files:
                self.look_for_files(words)

    def give_allennlp(self, arguments: list[str]) -> None:
        with self.monkeypatch.context() as patch:
            patch.setattr("allennlp.commands.import_plugins", lambda: None)
            patch.setattr(sys, "argv", ["allennlp", *arguments])
            parse_args("allennlp")
        if not self.checks_files:
            return
        command, *others = arguments
        overrides = values(others, "-o", "--overrides")
        if command == "elmo-ablation":
            for variant in values(others, "--variants"):
                config = f"training_configs/{others[0]}/{variant}.jsonnet"
                self.check_data(config_with_changes(config, tuple(values(others, "--set"))))
        for config in [word for word in others if re.search(r"\.jsonnet$|^elmo_tasks:", word)]:
            self.check_data(read_config(config, *overrides))

    def give_elmo_tasks(self, arguments: list[str]) -> None:
        name = arguments[0]
        if name in IN_ALLENNLP:
            self.give_allennlp([f"elmo-{name}", *arguments[1:]])
        elif name in COMMANDS:
            args = make_parser(name).parse_args(arguments)
            if name == "new" and self.checks_files:
                args.func(args)
            elif name == "train" and self.checks_files:
                self.check_data(read_config(args.param_path, args.overrides))
        elif name != "--help":
            self.give_allennlp(arguments)

    def check_data(self, config: dict[str, Any]) -> None:
        for name in ("train_data_path", "validation_data_path"):
            if name in config:
                assert self.has(config[name]), f"no file {config[name]}"

    def give_python(self, arguments: list[str]) -> None:
        """Parses the arguments of a script with its own parser."""
        name, *others = arguments[1:] if arguments[0] == "-m" else arguments
        name = name.removesuffix(".py").replace("/", ".")
        if (ROOT / name.replace(".", "/")).is_dir():
            name += ".__main__"
        with self.monkeypatch.context() as patch:
            # A package of the environment has the name `benchmarks`, too.
            patch.syspath_prepend(ROOT)
            script = importlib.import_module(name)
            patch.setattr(sys, "argv", [name, *others])
            patch.setattr(argparse.ArgumentParser, "parse_args", parse_and_end)
            with pytest.raises(Parsed):
                script.main()

    def look_for_files(self, words: list[str]) -> None:
        """Fails where a file is neither in the repository, nor to be had, nor made before."""
        program, written = words[0], set[str]()
        runs_another = program in ("allennlp", "elmo-tasks", "python", "spacy")
        name = Path(words[1] if runs_another else program).name
        positional = [word for word in words[2:] if is_path(word)]
        if program in ("mkdir", "curl"):
            written |= {word for word in words[1:] if is_path(word)}
        if name in WRITES_SECOND:
            written.add(positional[:2][-1])
        outputs = OUTPUTS | {">", ">>"}
        if name == "store":
            outputs.add("--path")
        for option, value in zip(words, words[1:]):
            if option in outputs:
                written.add(value)
        for word in words[1:]:
            path = word.partition("=")[2] if re.match(r"[A-Z]+=", word) else word
            if is_path(path) and path not in written:
                assert self.has(path), f"no file {path} in: {shlex.join(words)}"
        self.made |= written

    def has(self, path: str) -> bool:
        if "://" in path or path in FETCHED:
            return True
        for prefix, how in OBTAINABLE.items():
            if path.startswith(prefix):
                return re.search(how, self.text) is not None
        # The archive of a training, and the files of a biLM, lie in the folder of the training.
        made = path in self.made or str(Path(path).parent) in self.made
        return made or is_shipped(path)


def is_shipped(path: str) -> bool:
    """Whether git has the file, or a block of the page says what is in it."""
    if path.endswith(".jsonnet"):
        return Path(path).exists()
    return (ROOT / path).exists() and not path.startswith(("data", "runs"))


def simple_commands(line: str) -> Iterator[list[str]]:
    """Yields the words of each command of a line; `>` and the file after it are words of it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|>;")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, "|"]:
        if word not in ("&&", "|", ";"):
            words.append(word)
        elif words:
            yield words
            words = []


def is_path(word: str) -> bool:
    if (
        word.startswith(("-", "{", "~", "s/", "elmo_tasks:"))
        or re.match(r"[a-z_]+=", word)
        or " " in word
    ):
        return False
    has_suffix = re.search(r"\.(jsonl?|txt|png|hdf5|jsonnet|gz)$", word) is not None
    return has_suffix or "/" in word and not re.fullmatch(r"\d+/\d+", word)


def values(arguments: list[str], *options: str) -> list[str]:
    """Returns all values of an option, which may have several and occur more than once."""
    found, taking = [], False
    for word in arguments:
        if word in options:
            taking = True
        elif word.startswith("-") and not word.startswith("-1"):
            taking = False
        elif taking:
            found.append(word)
    return found


@functools.cache
def config_with_changes(config: str, changes: tuple[str, ...]) -> dict[str, Any]:
    """Returns a config with changes; fails where it lacks such a field, or refuses its value."""
    assert Path(config).exists(), config
    parts = [change.partition("=") for change in changes]
    fields = ", ".join(f"{name}: {value}" for name, _, value in parts)
    known = f"std.objectFieldsAll(import '{config}')"
    result = evaluate(f"{{ known: {known}, config: (import '{config}') {{ {fields} }} }}")
    assert {name for name, _, _ in parts} <= set(result["known"]), f"{config}: {changes}"
    return result["config"]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def parse_and_end(parser: argparse.ArgumentParser, *args: Any) -> argparse.Namespace:
    namespace, others = parser.parse_known_args(*args)
    assert not others, f"{parser.prog} has no {others}"
    raise Parsed

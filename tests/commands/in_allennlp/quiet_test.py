import io
import logging
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.commands.in_allennlp.quiet import make_quiet


@pytest.fixture
def console() -> Iterator[io.StringIO]:
    """The console of a process in which no test listens to messages and warnings."""
    root, text = logging.getLogger(), io.StringIO()
    before = root.handlers[:], root.level
    root.handlers[:] = [logging.StreamHandler(text)]
    root.setLevel(logging.INFO)
    # An evaluation of an earlier test has disabled this one.
    logging.getLogger("allennlp.common.params").disabled = False
    with warnings.catch_warnings():
        yield text
    root.handlers[:] = before[0]
    root.setLevel(before[1])


def say() -> None:
    logging.getLogger("allennlp.common.params").info("type = default")
    logging.getLogger("elmo_tasks.readers.snli").info("dropped 3 pairs")
    logging.getLogger("allennlp.training").warning("no validation")


def test_the_console_shows_warnings_and_our_messages_and_a_log_file_everything(
    console: io.StringIO, tmp_path: Path
) -> None:
    logging.getLogger().addHandler(logging.FileHandler(tmp_path / "out.log"))

    make_quiet()
    logging.getLogger("allennlp.models.model").warning("Encountered the loss key")
    say()

    assert console.getvalue() == "dropped 3 pairs\nWARNING: no validation\n"
    log = (tmp_path / "out.log").read_text()
    assert log == "Encountered the loss key\ntype = default\ndropped 3 pairs\nno validation\n"


def test_control_characters_of_a_label_are_escaped_on_the_console(console: io.StringIO) -> None:
    make_quiet()
    logging.getLogger("elmo_tasks.predictors").info("%s: %s\n0.5", "f1-\x1b[2J", "\x9b2J")

    assert console.getvalue() == "f1-\\x1b[2J: \\x9b2J\n0.5\n"


@pytest.mark.parametrize("name", ["ALLENNLP_LOG_LEVEL", "ALLENNLP_DEBUG"])
def test_the_level_of_the_user_counts(
    name: str, console: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "INFO")

    make_quiet()
    say()

    assert console.getvalue() == "type = default\ndropped 3 pairs\nno validation\n"


@pytest.mark.parametrize(("options", "shown"), [([], 1), (["default"], 2)])
def test_deprecations_of_others_are_hidden_unless_python_is_told_to_warn(
    options: list[str], shown: int, console: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "warnoptions", options)
    warnings.resetwarnings()

    with warnings.catch_warnings(record=True) as caught:
        make_quiet()
        for module in ("another.module", "elmo_tasks.module"):
            warnings.warn_explicit("old", DeprecationWarning, "file.py", 1, module)

    assert len(caught) == shown

"""Says how to go on with a command of AllenNLP that has failed or was interrupted."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from elmo_tasks.common.program import program

# Advice in AllenNLP's messages that does not fit every command.
_CPU_ADVICE = (
    "if you want to run on CPU use the override 'trainer.cuda_device=-1' in the json config file."
)
_EXISTING = re.compile(r"Serialization directory \((.*)\) already exists and is not empty\..*")

# What AllenNLP writes to the folder of a training before the first checkpoint.
_BEFORE_CHECKPOINT = {"config.json", "meta.json", "out.log", "log", "vocabulary"}


def how_to_go_on(arguments: list[str]) -> str:
    """
    Returns what to type to go on with a command of AllenNLP. The text is the end of a sentence.
    """
    if not arguments:
        return ""
    if arguments[0] != "train":
        return "; run the same command again"
    kept = [argument for argument in arguments if argument not in ("-f", "--force", "--recover")]
    typed = f"{program()} {shlex.join(kept)}"
    if has_checkpoint(_folder(arguments)):
        return f"; to go on: {typed} --recover"
    return f"; no checkpoint was saved yet, so begin again: {typed}"


@contextmanager
def noting_how_to_go_on() -> Iterator[None]:
    """
    If the block raises an error because a file could not be read or written, or because `--recover`
    finds no checkpoint, adds a note to the error. The note says how to go on. This process must own
    the folder of the training, because otherwise another process may train in it.
    """
    try:
        yield
    except Exception as error:
        arguments = sys.argv[1:]
        folder = _folder(arguments)
        if isinstance(error, OSError) and has_checkpoint(folder):
            _add_note(error, f"; the checkpoints are kept{how_to_go_on(arguments)}")
        elif "--recover" in arguments and is_left_over(folder):
            _add_note(error, how_to_go_on(arguments))
        raise


def _add_note(error: Exception, note: str) -> None:
    # Python 3.10 has no `add_note`.
    error.__notes__ = [*getattr(error, "__notes__", ()), note]


def has_checkpoint(folder: str | os.PathLike | None) -> bool:
    """Returns whether the folder of a training has a checkpoint."""
    return any(name.startswith("training_state_") for name in _names(folder))


def is_left_over(folder: str | os.PathLike | None) -> bool:
    """
    Returns whether the folder of a training has only files from before the first checkpoint.
    Another training may then replace the folder.
    """
    names = {name for name in _names(folder) if not name.startswith("metrics_epoch_")}
    return {"config.json", "meta.json"} <= names <= _BEFORE_CHECKPOINT


def with_fitting_advice(message: str, arguments: list[str]) -> str:
    """Replaces advice in a message of AllenNLP that does not fit the command."""
    if match := _EXISTING.fullmatch(message):
        go_on = "go on with the training in it (--recover), " * (arguments[:1] == ["train"])
        message = (
            f"the folder {match[1]} is not empty: give another folder (-s), {go_on}"
            "or replace it (--force)"
        )
    on_cpu = "to use the CPU, leave out --cuda-device"
    if arguments[:1] == ["train"]:
        on_cpu = """to train on the CPU, give -o '{"trainer.cuda_device": -1}'"""
    return message.replace(_CPU_ADVICE, on_cpu)


def _names(folder: str | os.PathLike | None) -> set[str]:
    """Returns the names of the files in a folder. The folder may be missing."""
    try:
        return set() if folder is None else set(os.listdir(folder))
    except OSError:
        return set()


def _folder(arguments: list[str]) -> str | None:
    """Returns the folder of the training, from the arguments of a command."""
    names = ("-s", "--serialization-dir")
    for argument, value in zip(arguments, [*arguments[1:], ""]):
        if argument in names:
            return value
        for name in names:
            if argument.startswith(f"{name}="):
                return argument.removeprefix(f"{name}=")
    return None

"""Says how to go on with a command of AllenNLP that has failed or was interrupted."""

import os
import shlex

from elmo_tasks.common.program import program


def how_to_go_on(arguments: list[str]) -> str:
    """Returns what to type to go on with a command of AllenNLP, as the end of a sentence."""
    if not arguments:
        return ""
    if arguments[0] != "train":
        return "; run the same command again"
    folder = _option(arguments, "-s", "--serialization-dir")
    kept = [argument for argument in arguments if argument not in ("-f", "--force", "--recover")]
    if folder and any(name.startswith("training_state_") for name in _names_in(folder)):
        return f"; to go on: {program()} {shlex.join(kept)} --recover"
    return f"; no checkpoint was saved yet, so begin again: {program()} {shlex.join(kept)} --force"


def _option(arguments: list[str], *names: str) -> str | None:
    for argument, value in zip(arguments, [*arguments[1:], ""]):
        if argument in names:
            return value
        for name in names:
            if argument.startswith(f"{name}="):
                return argument.removeprefix(f"{name}=")
    return None


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []

"""Runs a program in a terminal, and shows what a person sees there."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """
    # Parameters

    rows: The rows of the terminal at the end, without those that are blank.
    silence: The longest time in seconds without output.
    """

    status: int
    output: str
    rows: list[str]
    silence: float


def in_terminal(command: Sequence[str], folder: Path, columns: int = 80) -> Seen:
    """Runs a command in a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    # A command that ran in this process has left its defaults of tqdm here.
    variables = {name: each for name, each in os.environ.items() if not name.startswith("TQDM_")}
    process = subprocess.Popen(
        command, cwd=folder, env=variables, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    content, silence, last = b"", 0.0, time.monotonic()
    try:
        while part := os.read(ours, 4096):
            now = time.monotonic()
            silence, last = max(silence, now - last), now
            content += part
    except OSError:
        # The other end is closed.
        pass
    finally:
        os.close(ours)
    output = content.decode()
    return Seen(process.wait(), output, rows_of(output, columns), silence)


def rows_of(output: str, columns: int) -> list[str]:
    """Returns the rows that output leaves on a terminal, where a longer line goes on below."""
    rows: list[list[str]] = [[]]
    row = column = 0
    for part in re.findall(r"\x1b\[A|[\s\S]", output):
        if part == "\r":
            column = 0
        elif part == "\x1b[A":
            row = max(0, row - 1)
        else:
            if part == "\n" or column == columns:
                row, column = row + 1, 0 if part != "\n" else column
                rows += [[]] * 0 if row < len(rows) else [[]]
            if part != "\n":
                rows[row] += " " * (column + 1 - len(rows[row]))
                rows[row][column] = part
                column += 1
    return [text for text in ("".join(each).rstrip() for each in rows) if text]

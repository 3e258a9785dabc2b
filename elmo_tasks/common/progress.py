"""
Shows the progress of a command on a terminal. Work that counts its steps has a progress bar of
tqdm; other work has a clock (`working`).
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# The description is at the end, where the edge of the terminal cuts it: AllenNLP's bars have all
# metrics of a training run there.
_FORMAT = "{bar:10} {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}] {desc}"

# Seconds until `working` shows something, and between two of its lines.
_INTERVAL = 1.0


def prepare_bars(as_lines: bool = False) -> None:
    """
    Sets the look of all progress bars in this process, AllenNLP's included. On a terminal, the bars
    fit its width and vanish at their end. Elsewhere there are no bars. With `as_lines`, each state
    of a bar is a line. Call this before tqdm is imported, because tqdm reads these settings only
    once.
    """
    width = terminal_width()
    # tqdm cannot tell the width of AllenNLP's stream.
    defaults = {} if width is None else {"NCOLS": str(width)}
    if as_lines:
        # What takes a moment needs no line.
        defaults["DELAY"] = "2"
    elif width is None:
        defaults["DISABLE"] = "1"
    else:
        # An empty text is false.
        defaults |= {"LEAVE": "", "BAR_FORMAT": _FORMAT}
    for name, value in defaults.items():
        os.environ.setdefault(f"TQDM_{name}", value)


def terminal_width() -> int | None:
    """Returns the number of columns that a line may have, or `None` if there is no terminal."""
    if not sys.stderr.isatty():
        return None
    # Some terminals report 0 columns. In the last one, a line would wrap.
    return (os.get_terminal_size(2).columns or 80) - 1


@contextmanager
def working(text: str) -> Iterator[None]:
    """
    Shows a text and a clock on a terminal while the block runs, if it takes more than a second.
    """
    if not sys.stderr.isatty() or os.environ.get("TQDM_DISABLE"):
        yield
        return
    end = threading.Event()
    clock = threading.Thread(target=_show, args=(text, end), daemon=True)
    clock.start()
    try:
        yield
    finally:
        end.set()
        clock.join()


def _show(text: str, end: threading.Event) -> None:
    if end.wait(_INTERVAL):
        return
    from tqdm import tqdm

    with tqdm(desc=text, bar_format="{desc} [{elapsed}]", leave=False) as bar:
        while not end.wait(_INTERVAL):
            bar.refresh()

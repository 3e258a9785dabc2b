import logging
import re

logger = logging.getLogger(__name__)

# How many lines at the beginning of a text are looked at.
_NUM_LINES = 1000

# A word that ends in a comma, or the last word of a line if it ends in `.`, `!` or `?`.
_JOINED = re.compile(r"""\S*\w,["')]?(?=\s|$)|\S*\w[.!?]["')]?$""")
_SEPARATE = re.compile(r"(?<!\S)[,.!?](?!\S)")


class RawTextHint:
    """
    Warns once if the first lines of a text look like raw text. They do if more commas and final
    marks of sentences stand at the end of a word than alone.
    """

    def __init__(self) -> None:
        self._lines_left = _NUM_LINES
        self._excess = 0
        self._example = ""

    def look(self, line: str) -> None:
        """Looks at the next line, unless enough lines were looked at before."""
        if self._lines_left:
            joined = _JOINED.findall(line.rstrip())
            self._excess += len(joined) - len(_SEPARATE.findall(line))
            self._example = self._example or (joined[0] if joined else "")
            self._lines_left -= 1
            if not self._lines_left:
                self._warn()

    def end(self) -> None:
        """Judges a text that has fewer than `_NUM_LINES` lines."""
        if self._lines_left:
            self._lines_left = 0
            self._warn()

    def _warn(self) -> None:
        if self._excess > 0:
            logger.warning(
                "the text looks raw: %.80r is one token; --split cuts sentences and tokens",
                self._example,
            )

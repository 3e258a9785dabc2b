import re

# Control characters but the tab, ends of lines, and marks that turn the direction of writing.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""
    Returns a line in which control characters are escaped (`\x1b`), so that a name or label out of
    somebody's file cannot steer the terminal.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

import re

# Control characters except the tab, and marks that end a line or turn the direction of writing.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""
    Returns a line with its control characters escaped (`\x1b`), because a name or label from
    somebody's file must not steer the terminal.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

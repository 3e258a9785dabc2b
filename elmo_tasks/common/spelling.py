import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `; did you mean 'x'?` for the known name most like this one, or "" if none is."""
    lower = {other.lower(): other for other in known}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1)
    return f"; did you mean {lower[nearest[0]]!r}?" if nearest else ""

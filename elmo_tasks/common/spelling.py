import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """
    Returns `; did you mean 'x'?` for the known name that is most like this one or has its initials,
    or "" if there is none.
    """
    lower = {other.lower(): other for other in known}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1)
    initials = "".join(word[:1] for word in name.lower().split("_"))
    if "_" in name and initials in lower:
        nearest.append(initials)
    return f"; did you mean {lower[nearest[0]]!r}?" if nearest else ""

from collections.abc import Collection, Iterable

# The maximum number of names that a message lists.
_MOST_LISTED = 12


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `; did you mean 'x'?` if a known name x is similar to `name`, and otherwise ""."""
    # The command line imports this module, and starts in a tenth of a second.
    import difflib

    lower = {other.lower(): other for other in known}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1)
    return f"; did you mean {lower[nearest[0]]!r}?" if nearest else ""


def nearest_or_all(name: str, known: Collection[str]) -> str:
    """
    Returns the end of a message about an unknown name: `did_you_mean`, or `; there are a, b and c`
    if no known name is similar. Lists only the first of many names.
    """
    return did_you_mean(name, known) or f"; there are {listed(known)}"


def listed(names: Collection[str]) -> str:
    """Returns names as text. Lists the first of many names, and says how many more there are."""
    first = ", ".join(list(names)[:_MOST_LISTED]) or "(none)"
    more = len(names) - _MOST_LISTED
    return f"{first} and {more} more" if more > 0 else first

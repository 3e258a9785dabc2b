"""Says why a value that a program passes is no list of texts."""

from collections.abc import Mapping
from typing import Any

import torch


def no_list(value: Any) -> str | None:
    """
    Returns a message for a value that is not a list: what the value is, and what to do. Returns
    `None` for a list.
    """
    kind = type(value).__name__
    if isinstance(value, str):
        return f"one string: {value!r:.80}; give a list that contains it"
    if isinstance(value, bytes | bytearray):
        return f"bytes: {value!r:.80}; decode them"
    if hasattr(value, "columns"):
        return f"a {kind}, which gives the names of its columns; give one column: table['text']"
    if isinstance(value, Mapping):
        return f"a {kind}: {value!r:.80}; give a list of its texts"
    if isinstance(value, set | frozenset):
        return f"a {kind}, which has no order: {value!r:.80}; give a list"
    if isinstance(value, torch.Tensor):
        return f"a {kind} of shape {tuple(value.shape)}; give strings"
    if (dims := getattr(value, "ndim", 1)) != 1:
        return (
            f"a {kind} of {dims} dimensions; give one column, such as array[:, 0], or "
            "array.tolist() if each row has the tokens of a sentence"
        )
    is_iterable = hasattr(value, "__iter__") or hasattr(value, "__getitem__")
    return None if is_iterable else f"{value!r:.80}"

"""The form of an answer: its fields, as JSON, and as text on a line."""

import json
from collections.abc import Collection
from typing import Any

from allennlp.common.util import JsonDict

from elmo_tasks.common.errors import NOT_FINITE


def as_json(answer: JsonDict) -> str:
    """Returns an answer as JSON. Raises `ValueError` for NaN and infinity, which JSON lacks."""
    try:
        return json.dumps(answer, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"{NOT_FINITE} ({error})") from error


def with_fields(answer: JsonDict, fields: JsonDict) -> JsonDict:
    """
    Puts further fields before those of an answer. If the answer has a field of the same name, the
    further field becomes `input_NAME`.
    """
    renamed: JsonDict = {}
    for name, value in fields.items():
        renamed[unlike(name, answer.keys() | renamed.keys())] = value
    return {**renamed, **answer}


def unlike(name: str, taken: Collection[str]) -> str:
    """Returns the name of a further field, with `input_` before it if it is taken."""
    while name in taken:
        name = f"input_{name}"
    return name


def one_line(*parts: Any) -> str:
    """Returns texts and probabilities on one line, separated by tabs."""
    texts = [f"{part:.2f}" if isinstance(part, float) else str(part) for part in parts]
    return "\t".join(" ".join(text.split()) for text in texts)

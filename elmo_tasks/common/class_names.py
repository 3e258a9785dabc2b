"""The names of classes that Hugging Face's datasets keep in Parquet, where columns have numbers."""

import json
from collections.abc import Mapping
from typing import Any


def class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    """
    Returns the names of the classes of each column that has numbers for them, or lists of these, by
    the metadata of a schema of Arrow.
    """
    try:
        about = json.loads((metadata or {}).get(b"huggingface", b"{}"))
        features = about["info"]["features"]
    except (ValueError, KeyError, TypeError):
        return {}
    found = {column: _names(feature) for column, feature in dict(features).items()}
    return {column: names for column, names in found.items() if names is not None}


def with_names(value: Any, names: list[str]) -> Any:
    """Returns the name of a number, or those of a list. A number without a name stays."""
    if isinstance(value, list):
        return [with_names(each, names) for each in value]
    is_class = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names)
    return names[value] if is_class else value


def _names(feature: Any) -> list[str] | None:
    """Returns the names in a feature, or in the one of a list's items, which has several forms."""
    if isinstance(feature, list) and len(feature) == 1:
        return _names(feature[0])
    if not isinstance(feature, dict):
        return None
    if feature.get("_type") == "ClassLabel" and isinstance(feature.get("names"), list):
        return [str(name) for name in feature["names"]]
    return _names(feature.get("feature"))

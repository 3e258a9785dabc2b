"""
Reads the names of classes that Hugging Face's datasets keep in Parquet's metadata. The columns have
the classes as numbers.
"""

import json
from collections.abc import Mapping
from typing import Any


def class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    """
    Returns the class names of each column of class numbers, or of lists of class numbers. The names
    are in the metadata of an Arrow schema.
    """
    try:
        about = json.loads((metadata or {}).get(b"huggingface", b"{}"))
        features = about["info"]["features"]
    except (ValueError, KeyError, TypeError):
        return {}
    by_column = {column: _names(feature) for column, feature in dict(features).items()}
    return {column: names for column, names in by_column.items() if names is not None}


def with_names(value: Any, names: list[str]) -> Any:
    """
    Returns the class name of a number, or the names for a list. A number without a name stays.
    """
    if isinstance(value, list):
        return [with_names(item, names) for item in value]
    is_class = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names)
    return names[value] if is_class else value


def _names(feature: Any) -> list[str] | None:
    """
    Returns the class names in a feature. For a list, the names are in the feature of its items,
    which versions of `datasets` write in several forms.
    """
    if isinstance(feature, list) and len(feature) == 1:
        return _names(feature[0])
    if not isinstance(feature, dict):
        return None
    if feature.get("_type") == "ClassLabel" and isinstance(feature.get("names"), list):
        return [str(name) for name in feature["names"]]
    return _names(feature.get("feature"))

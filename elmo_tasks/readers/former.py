"""Settings in the configs of earlier trainings that our readers no longer have."""

import json
from typing import Any

from elmo_tasks.common.errors import ConfigurationError

# These settings have one value left, which is what readers do today. Other values are refused.
_FORMER: dict[str, Any] = {
    "fields": ["passage"],
    "scheme": "BIOUL",
    "singletons": False,
    "tokens_from": "sentence",
}

# These settings only said which files a reader refuses. No answer depends on their values.
_FORMER_CHECKS = {"file_scheme", "max_words", "wrong_answers", "wrong_mentions"}


def without_former(config: dict[str, Any]) -> dict[str, Any]:
    """
    Returns a config without the settings that our readers no longer have. Raises
    `ConfigurationError` if one asks for what no reader does any more.
    """
    names = ("dataset_reader", "validation_dataset_reader")
    return config | {name: _reader(config[name], name) for name in names if name in config}


def _reader(reader: Any, path: str) -> Any:
    """Returns the config of a reader, and of a reader in it, without former settings."""
    if not isinstance(reader, dict) or not str(reader.get("type")).startswith("elmo_"):
        return reader
    for key in _FORMER.keys() & reader.keys():
        if reader[key] != _FORMER[key]:
            raise ConfigurationError(
                f"{path}.{key} in config.json is {json.dumps(reader[key])}, but readers can only "
                f"do as with {json.dumps(_FORMER[key])}; --overrides of predict and evaluate set it"
            )
    return {
        key: _reader(value, f"{path}.{key}")
        for key, value in reader.items()
        if key not in _FORMER and key not in _FORMER_CHECKS
    }
